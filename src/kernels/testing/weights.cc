#include "kernels/testing/weights.h"

#include <cmath>

#include "numeric/float_formats.h"

namespace assay::kernels::testing {
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

std::vector<float> random_input(Shape shape, int64_t count, std::mt19937& rng) {
  std::vector<float> x(static_cast<size_t>(count), 0.0f);
  std::normal_distribution<float> normal;
  std::student_t_distribution<float> heavy(2);
  if (shape == Shape::one_hot) {
    x[rng() % x.size()] = 1.0f;
    return x;
  }
  for (float& v : x) {
    switch (shape) {
      case Shape::heavy_tailed:
        v = heavy(rng);
        break;
      case Shape::all_equal:
        v = 1.0f;
        break;
      case Shape::tiny:
        v = normal(rng) * 1e-30f;
        break;
      default:
        v = normal(rng);
    }
  }
  return x;
}

void expect_within(std::span<const float> out, const Expected& expected, const std::string& what) {
  const auto& [reference, bound] = expected;
  const Judgement j = judge(out, reference, bound);
  EXPECT_TRUE(j.passed()) << what << ": " << j.violations << " elements outside, worst at " << j.worst_index
                          << ": " << out[static_cast<size_t>(j.worst_index)] << " against "
                          << reference[static_cast<size_t>(j.worst_index)] << ", " << j.worst_ratio
                          << " x the bound";
  EXPECT_LT(j.detectable_scale, 0.25) << what << ": the bound is too loose to prove anything";
  std::vector<float> zeroed(out.size(), 0.0f), scaled(out.begin(), out.end()),
      swapped(out.begin(), out.end());
  for (float& v : scaled) v *= 1.25f;
  for (size_t i = 0; i + 1 < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
  EXPECT_FALSE(judge(zeroed, reference, bound).passed()) << what << ": zeros pass";
  EXPECT_FALSE(judge(scaled, reference, bound).passed()) << what << ": 1.25 x passes";
  if (out.size() > 1) {
    EXPECT_FALSE(judge(swapped, reference, bound).passed()) << what << ": permuted passes";
  }
}

}  // namespace assay::kernels::testing
