#include "kernels/plan/random_inputs.h"

#include <cmath>
#include <cstring>

#include "numeric/float_formats.h"

namespace assay::kernels {
namespace {

uint8_t random_e4m3(std::mt19937& rng) {
  const auto code = static_cast<uint8_t>(rng());
  return (code & 0x7F) == 0x7F ? 0x38 : code;
}

std::byte* fill(Arena& arena, int64_t bytes, std::mt19937& rng, uint8_t (*make)(std::mt19937&)) {
  std::byte* data = arena.allocate(static_cast<size_t>(bytes));
  for (int64_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(make(rng));
  return data;
}

template <class T, class Make>
std::byte* fill_as(Arena& arena, int64_t count, const Make& make) {
  std::byte* data = arena.allocate(static_cast<size_t>(count) * sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    const T value = make();
    std::memcpy(data + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
  return data;
}

}  // namespace

QuantView random_weight(WeightFormat format, int64_t rows, int64_t cols, std::mt19937& rng, Arena& arena) {
  QuantView w{.format = format, .rows = rows, .cols = cols};
  std::normal_distribution<float> normal(0, 0.5f);
  std::uniform_real_distribution<float> scale(0.001f, 0.02f);
  const auto any_byte = [](std::mt19937& r) { return static_cast<uint8_t>(r()); };
  switch (format) {
    case WeightFormat::f32:
      w.codes = fill_as<float>(arena, rows * cols, [&] { return normal(rng); });
      break;
    case WeightFormat::bf16:
      w.codes = fill_as<uint16_t>(arena, rows * cols, [&] { return numeric::encode_bf16(normal(rng)); });
      break;
    case WeightFormat::f16:
      w.codes = fill_as<uint16_t>(arena, rows * cols, [&] {
        return numeric::encode_fp16(normal(rng) * (rng() % 8 == 0 ? 1e-6f : 1.0f));
      });
      break;
    case WeightFormat::nvfp4:
      w.codes = fill(arena, rows * cols / 2, rng, any_byte);
      w.scales = fill(arena, rows * cols / 16, rng,
                      [](std::mt19937& r) { return static_cast<uint8_t>(r() % 0x7F); });
      w.global = 0.003f;
      break;
    case WeightFormat::mxfp4:
      w.codes = fill(arena, rows * cols / 2, rng, any_byte);
      w.scales = fill(arena, rows * cols / 32, rng,
                      [](std::mt19937& r) { return static_cast<uint8_t>(118 + r() % 10); });
      break;
    default: {
      w.codes = fill(arena, rows * cols, rng, random_e4m3);
      w.global = format == WeightFormat::fp8_tensor ? 0.004f : 1.0f;
      const int64_t scales = scale_bytes(format, rows, cols) / 4;
      if (scales > 0) w.scales = fill_as<float>(arena, scales, [&] { return scale(rng); });
    }
  }
  return w;
}

std::string_view name_of(ValueKind kind) {
  constexpr std::string_view kNames[kValueKinds] = {
      "normal", "heavy_tailed", "all_equal", "one_hot", "denormal", "tiny",     "large",
      "zeros",  "alternating",  "sparse",    "ramp",    "outlier",  "negative", "mixed_scales"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<float> random_values(ValueKind kind, int64_t count, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::student_t_distribution<float> heavy(2);
  const auto place = rng() % 64;  // of the odd one out in every 64 values
  std::vector<float> x;
  for (int64_t i = 0; i < count; ++i) {
    const bool special =
        static_cast<uint64_t>(i) % 64 == place || (count <= static_cast<int64_t>(place) && i == 0);
    switch (kind) {
      case ValueKind::normal:
        x.push_back(normal(rng));
        break;
      case ValueKind::heavy_tailed:
        x.push_back(heavy(rng));
        break;
      case ValueKind::all_equal:
        x.push_back(1.0f);
        break;
      case ValueKind::one_hot:
        x.push_back(special ? 1.0f : 0.0f);
        break;
      case ValueKind::denormal:
        x.push_back(normal(rng) * 1e-40f);
        break;
      case ValueKind::tiny:
        x.push_back(normal(rng) * 1e-30f);
        break;
      case ValueKind::large:
        x.push_back(normal(rng) * 1e10f);
        break;
      case ValueKind::zeros:
        x.push_back(0.0f);
        break;
      case ValueKind::alternating:
        x.push_back(i % 2 == 0 ? 1.0f : -1.0f);
        break;
      case ValueKind::sparse:
        x.push_back(rng() % 100 == 0 ? normal(rng) : 0.0f);
        break;
      case ValueKind::ramp:
        x.push_back(static_cast<float>(i % 64) / 64);
        break;
      case ValueKind::outlier:
        x.push_back(special ? 1e4f : normal(rng));
        break;
      case ValueKind::negative:
        x.push_back(-std::fabs(normal(rng)));
        break;
      case ValueKind::mixed_scales:
        x.push_back(normal(rng) * std::pow(10.0f, static_cast<float>(rng() % 13) - 6));
        break;
    }
  }
  return x;
}

}  // namespace assay::kernels
