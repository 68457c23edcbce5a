#include "checkpoint/weight_binder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace assay::checkpoint {
namespace {

std::string types_text(const std::vector<DType>& types) {
  std::vector<std::string_view> names;
  for (DType t : types) names.push_back(name_of(t));
  return fmt::format("{}", fmt::join(names, " or "));
}

std::string shapes_text(const std::vector<std::vector<int64_t>>& shapes) {
  std::vector<std::string> texts;
  for (const auto& shape : shapes) texts.push_back(shape_text(shape));
  return fmt::format("{}", fmt::join(texts, " or "));
}

bool is_float(DType t) {
  return t == DType::f32 || t == DType::bf16 || t == DType::f16;
}

WeightFormat plain_format(DType t) {
  return t == DType::bf16 ? WeightFormat::bf16 : t == DType::f16 ? WeightFormat::f16 : WeightFormat::f32;
}

std::vector<int64_t> without_ones(std::vector<int64_t> shape) {
  std::erase(shape, 1);
  return shape;
}

}  // namespace

WeightBinder::WeightBinder(const Checkpoint& checkpoint)
    : checkpoint_(checkpoint), taken_(checkpoint.tensors().size()) {}

void WeightBinder::add_problem(std::string problem) {
  constexpr size_t kMaxListedProblems = 200;
  if (problem_count_++ < kMaxListedProblems) problems_.push_back(std::move(problem));
}

const NamedTensor* WeightBinder::take(const std::string& name) {
  const int at = checkpoint_.find(name);
  if (at < 0) return nullptr;
  taken_[static_cast<size_t>(at)] = true;
  return &checkpoint_.tensors()[static_cast<size_t>(at)];
}

const NamedTensor* WeightBinder::expect(const std::string& name, const std::vector<DType>& types,
                                        const std::vector<std::vector<int64_t>>& shapes) {
  const NamedTensor* tensor = take(name);
  if (tensor == nullptr) {
    add_problem(
        fmt::format("tensor {}: missing, expected {} {}", name, types_text(types), shapes_text(shapes)));
    return nullptr;
  }
  const bool type_ok = std::find(types.begin(), types.end(), tensor->view.dtype) != types.end();
  const bool shape_ok = std::find(shapes.begin(), shapes.end(), tensor->view.shape) != shapes.end();
  if (type_ok && shape_ok) return tensor;
  add_problem(fmt::format("tensor {} in {}: found {} {}, expected {} {}", name,
                          checkpoint_.file_name(tensor->file), name_of(tensor->view.dtype),
                          shape_text(tensor->view.shape), types_text(types), shapes_text(shapes)));
  return nullptr;
}

std::optional<float> WeightBinder::scalar(const std::string& name, bool positive) {
  const NamedTensor* tensor = expect(name, {DType::f32, DType::bf16, DType::f16}, {{}, {1}});
  if (tensor == nullptr) return std::nullopt;
  const float value = element_as_float(tensor->view, 0);
  if (!std::isfinite(value) || value < 0 || (positive && value == 0)) {
    add_problem(fmt::format("tensor {} in {}: found {}, expected a finite {} number", name,
                            checkpoint_.file_name(tensor->file), value,
                            positive ? "positive" : "non-negative"));
    return std::nullopt;
  }
  return value;
}

std::optional<float> WeightBinder::optional_scalar(const std::string& name) {
  return has(name) ? scalar(name, false) : std::nullopt;
}

QuantView WeightBinder::linear(const std::string& module, int64_t rows, int64_t cols) {
  const QuantView view{.rows = rows, .cols = cols};
  if (has(module + "_blocks")) return mxfp4(module + "_blocks", module + "_scales", view);
  if (has(module + ".weight_packed")) {
    if (has(module + ".weight_global_scale")) return nvfp4_compressed(module, view);
    const int scale = checkpoint_.find(module + ".weight_scale");
    const bool bytes =
        scale >= 0 && bytes_of(checkpoint_.tensors()[static_cast<size_t>(scale)].view.dtype) == 1;
    if (bytes) return mxfp4(module + ".weight_packed", module + ".weight_scale", view);
    return refuse(module, rows, cols);
  }
  const int weight = checkpoint_.find(module + ".weight");
  if (weight < 0) return refuse(module, rows, cols);
  if (has(module + ".pre_quant_scale")) {
    add_problem(
        fmt::format("module {}: NVFP4_AWQ (pre_quant_scale) is not supported; NVFP4 without it is", module));
  }
  switch (checkpoint_.tensors()[static_cast<size_t>(weight)].view.dtype) {
    case DType::u8:
      return nvfp4_modelopt(module, view);
    case DType::f8_e4m3:
      return fp8(module, view);
    default:
      return plain(module, view);
  }
}

// Neither of the known sets of tensors is there: say what is, and what would be read.
QuantView WeightBinder::refuse(const std::string& module, int64_t rows, int64_t cols) {
  std::vector<std::string> found;
  for (const char* suffix : {".weight", ".weight_packed", ".weight_scale", ".weight_shape", ".qweight",
                             ".qzeros", ".scales", ".g_idx"}) {
    if (const NamedTensor* tensor = take(module + suffix)) {
      found.push_back(
          fmt::format("{} {} {}", suffix + 1, name_of(tensor->view.dtype), shape_text(tensor->view.shape)));
    }
  }
  if (found.empty()) {
    add_problem(
        fmt::format("tensor {}.weight: missing, expected a matrix {}", module, shape_text({rows, cols})));
  } else {
    add_problem(
        fmt::format("module {}: unsupported quantisation ({}); supported: BF16, FP16, FP32, NVFP4 (ModelOpt, "
                    "compressed-tensors), MXFP4, FP8 per tensor, per channel or 128x128",
                    module, fmt::join(found, ", ")));
  }
  return {};
}

QuantView WeightBinder::plain(const std::string& module, QuantView view) {
  const NamedTensor* tensor =
      expect(module + ".weight", {DType::bf16, DType::f16, DType::f32}, {{view.rows, view.cols}});
  if (tensor == nullptr) return {};
  view.format = plain_format(tensor->view.dtype);
  view.codes = tensor->view.data;
  return view;
}

// Codes and block scales of both NVFP4 layouts; `global` as its layout defines it.
QuantView WeightBinder::nvfp4(const std::string& module, const std::string& codes_suffix,
                              std::optional<float> global, QuantView view) {
  check_whole_blocks("module " + module + ": NVFP4", view.cols, 16);
  const NamedTensor* codes = expect(module + codes_suffix, {DType::u8}, {{view.rows, view.cols / 2}});
  const NamedTensor* scales =
      expect(module + ".weight_scale", {DType::f8_e4m3}, {{view.rows, view.cols / 16}});
  if (codes == nullptr || scales == nullptr || !global) return {};
  check_scale_bytes(*scales);
  view.format = WeightFormat::nvfp4;
  view.codes = codes->view.data;
  view.scales = scales->view.data;
  view.global = *global;
  return view;
}

QuantView WeightBinder::nvfp4_modelopt(const std::string& module, QuantView view) {
  const auto global = scalar(module + ".weight_scale_2", false);
  view.input_scale = optional_scalar(module + ".input_scale").value_or(0.0f);
  return nvfp4(module, ".weight", global, view);
}

// Its scales divide: both globals are taken as reciprocals.
QuantView WeightBinder::nvfp4_compressed(const std::string& module, QuantView view) {
  auto global = scalar(module + ".weight_global_scale", true);
  const auto input = optional_scalar(module + ".input_global_scale");
  view.input_scale = input && *input > 0 ? 1.0f / *input : 0.0f;
  if (global) global = 1.0f / *global;
  return nvfp4(module, ".weight_packed", global, view);
}

void WeightBinder::check_whole_blocks(const std::string& what, int64_t cols, int64_t block) {
  if (cols % block != 0) add_problem(fmt::format("{} needs K a multiple of {}, found {}", what, block, cols));
}

QuantView WeightBinder::mxfp4(const std::string& codes_name, const std::string& scales_name, QuantView view) {
  check_whole_blocks("tensor " + codes_name + ": MXFP4", view.cols, 32);
  const int64_t groups = view.cols / 32;
  const NamedTensor* codes =
      expect(codes_name, {DType::u8}, {{view.rows, view.cols / 2}, {view.rows, groups, 16}});
  const NamedTensor* scales = expect(scales_name, {DType::u8, DType::f8_e8m0}, {{view.rows, groups}});
  if (codes == nullptr || scales == nullptr) return {};
  view.format = WeightFormat::mxfp4;
  view.codes = codes->view.data;
  view.scales = scales->view.data;
  return view;
}

QuantView WeightBinder::fp8(const std::string& module, QuantView view) {
  const NamedTensor* codes = expect(module + ".weight", {DType::f8_e4m3}, {{view.rows, view.cols}});
  view.input_scale = optional_scalar(module + ".input_scale").value_or(0.0f);
  const int64_t n = view.rows, row_blocks = (view.rows + 127) / 128, col_blocks = (view.cols + 127) / 128;
  const std::vector<DType> types = {DType::f32, DType::bf16, DType::f16};
  if (has(module + ".weight_scale_inv")) {
    const NamedTensor* scales = expect(module + ".weight_scale_inv", types, {{row_blocks, col_blocks}});
    if (codes == nullptr || scales == nullptr) return {};
    view.format = WeightFormat::fp8_block;
    view.scales = scales_as_float(*scales);
  } else {
    const NamedTensor* scales = expect(module + ".weight_scale", types, {{}, {1}, {n}, {n, 1}});
    if (codes == nullptr || scales == nullptr) return {};
    const bool per_tensor = scales->view.elements() == 1;
    view.format = per_tensor ? WeightFormat::fp8_tensor : WeightFormat::fp8_channel;
    if (per_tensor)
      view.global = element_as_float(scales->view, 0);
    else
      view.scales = scales_as_float(*scales);
    if (per_tensor && (!std::isfinite(view.global) || view.global < 0)) {
      add_problem(
          fmt::format("tensor {}.weight_scale: found {}, expected a finite number", module, view.global));
    }
  }
  view.codes = codes->view.data;
  return view;
}

const std::byte* WeightBinder::scales_as_float(const NamedTensor& tensor) {
  const int64_t count = tensor.view.elements();
  auto* out = reinterpret_cast<float*>(converted_.allocate(static_cast<size_t>(count) * sizeof(float)));
  for (int64_t i = 0; i < count; ++i) {
    out[i] = element_as_float(tensor.view, i);
    if (!std::isfinite(out[i])) {
      add_problem(fmt::format("tensor {} in {}: scale {} is {}", tensor.name,
                              checkpoint_.file_name(tensor.file), i, out[i]));
      break;
    }
  }
  return reinterpret_cast<const std::byte*>(out);
}

// An E4M3 scale that is NaN would turn whole rows into NaN without a word.
void WeightBinder::check_scale_bytes(const NamedTensor& scales) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(scales.view.data);
  const int64_t count = scales.view.bytes();
  const auto* bad = std::find_if(bytes, bytes + count, [](uint8_t b) { return (b & 0x7F) == 0x7F; });
  if (bad != bytes + count) {
    add_problem(fmt::format("tensor {} in {}: block scale {} is NaN (0x{:02x})", scales.name,
                            checkpoint_.file_name(scales.file), bad - bytes, *bad));
  }
}

std::vector<QuantView> WeightBinder::stacked(const std::string& name, int64_t experts, int64_t rows,
                                             int64_t cols) {
  const NamedTensor* tensor = expect(name, {DType::bf16, DType::f16, DType::f32}, {{experts, rows, cols}});
  if (tensor == nullptr) return {};
  const int64_t stride = rows * cols * bytes_of(tensor->view.dtype);
  std::vector<QuantView> views;
  for (int64_t e = 0; e < experts; ++e) {
    views.push_back({.format = plain_format(tensor->view.dtype),
                     .rows = rows,
                     .cols = cols,
                     .codes = tensor->view.data + e * stride});
  }
  return views;
}

std::vector<float> WeightBinder::floats(const std::string& name, const std::vector<int64_t>& shape) {
  const NamedTensor* tensor = take(name);
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  if (tensor == nullptr) {
    add_problem(fmt::format("tensor {}: missing, expected a float tensor {}", name, shape_text(shape)));
  } else if (!is_float(tensor->view.dtype) || without_ones(tensor->view.shape) != without_ones(shape)) {
    add_problem(fmt::format("tensor {} in {}: found {} {}, expected F32, BF16 or F16 {}", name,
                            checkpoint_.file_name(tensor->file), name_of(tensor->view.dtype),
                            shape_text(tensor->view.shape), shape_text(shape)));
  } else {
    std::vector<float> out(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) out[static_cast<size_t>(i)] = element_as_float(tensor->view, i);
    return out;
  }
  return {};  // never used: finish() fails
}

template <class Matches>
void WeightBinder::skip_if(const Matches& matches, const std::string& rule) {
  for (size_t i = 0; i < taken_.size(); ++i) {
    const NamedTensor& tensor = checkpoint_.tensors()[i];
    if (taken_[i] || !matches(tensor.name)) continue;
    taken_[i] = true;
    skipped_[rule].tensors++;
    skipped_[rule].bytes += tensor.view.bytes();
  }
}

void WeightBinder::skip_prefix(const std::string& prefix, const std::string& rule) {
  skip_if([&](const std::string& name) { return name.starts_with(prefix); }, rule);
}

void WeightBinder::skip_suffix(const std::string& suffix, const std::string& rule) {
  skip_if([&](const std::string& name) { return name.ends_with(suffix); }, rule);
}

Result<void> WeightBinder::finish() {
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i]) continue;
    const NamedTensor& tensor = checkpoint_.tensors()[i];
    add_problem(fmt::format("tensor {} in {}: {} {} belongs to no part of this architecture", tensor.name,
                            checkpoint_.file_name(tensor.file), name_of(tensor.view.dtype),
                            shape_text(tensor.view.shape)));
  }
  if (problems_.empty()) return {};
  const size_t total = problem_count_;
  if (total > problems_.size()) problems_.push_back(fmt::format("... and {} more", total - problems_.size()));
  return Error{fmt::format("{} problem{} with the checkpoint's tensors:\n  {}", total, total == 1 ? "" : "s",
                           fmt::join(problems_, "\n  "))};
}

}  // namespace assay::checkpoint
