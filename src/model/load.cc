#include "model/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace assay::model {
namespace {

void add_formats(const ModelWeights& weights, std::set<WeightFormat>& formats) {
  formats.insert(weights.head.format);
  for (const LayerWeights& layer : weights.layers) {
    if (layer.attention) formats.insert({layer.attention->q.format, layer.attention->o.format});
    if (layer.delta) formats.insert({layer.delta->qkv.format, layer.delta->out.format});
    for (const auto& expert : layer.ffn.experts) formats.insert({expert.gate.format, expert.down.format});
    if (layer.ffn.shared.gate.codes != nullptr) formats.insert(layer.ffn.shared.gate.format);
  }
}

}  // namespace

Result<void> check_context(int64_t context, const ModelSpec& spec) {
  if (context <= spec.max_positions) return {};
  return Error{fmt::format("--context-length {}: the model's config allows {}", context, spec.max_positions)};
}

Result<void> check_quantization(const std::string& wanted, const ModelWeights& weights) {
  if (wanted.empty() || wanted == "auto") return {};
  const std::set<WeightFormat> plain = {WeightFormat::bf16, WeightFormat::f16, WeightFormat::f32};
  const std::set<WeightFormat> fp8 = {WeightFormat::fp8_tensor, WeightFormat::fp8_channel,
                                      WeightFormat::fp8_block};
  std::set<WeightFormat> expected;
  if (wanted == "modelopt_fp4" || wanted == "nvfp4")
    expected = {WeightFormat::nvfp4};
  else if (wanted == "mxfp4")
    expected = {WeightFormat::mxfp4};
  else if (wanted == "fp8" || wanted == "modelopt_fp8" || wanted == "w8a8_fp8")
    expected = fp8;
  else if (wanted == "none" || wanted == "unquant")
    expected = plain;
  else if (wanted == "modelopt" || wanted == "compressed-tensors" || wanted == "modelopt_mixed") {
    expected = fp8;
    expected.insert({WeightFormat::nvfp4, WeightFormat::mxfp4});
  } else {
    return Error{fmt::format(
        "--quantization {}: not supported; supported: auto, modelopt_fp4, modelopt_fp8, modelopt, "
        "compressed-tensors, mxfp4, fp8, none",
        wanted)};
  }
  std::set<WeightFormat> found;
  add_formats(weights, found);
  std::vector<std::string_view> names;
  bool fits = false;
  for (WeightFormat f : found) {
    names.push_back(name_of(f));
    fits |= expected.contains(f);
  }
  if (expected == plain)
    fits = std::all_of(found.begin(), found.end(), [&](WeightFormat f) { return plain.contains(f); });
  if (fits) return {};
  return Error{
      fmt::format("--quantization {} contradicts the checkpoint, whose tensors are {}; leave the flag out: "
                  "formats are read from the tensors",
                  wanted, fmt::join(names, ", "))};
}

Result<OpenModel> open_model(const std::string& folder) {
  auto config = Config::load(folder);
  if (!config) return config.error();
  auto family = read_spec(*config);
  if (!family) return Error{fmt::format("{}: {}", folder, family.reason())};
  auto checkpoint = checkpoint::Checkpoint::open(folder);
  if (!checkpoint) return checkpoint.error();
  OpenModel open;
  open.family = *std::move(family);
  open.checkpoint = std::make_unique<checkpoint::Checkpoint>(*std::move(checkpoint));
  open.binder = std::make_unique<checkpoint::WeightBinder>(*open.checkpoint);
  open.weights = open.family.family->bind(*open.binder, open.family.spec);
  if (auto finished = open.binder->finish(); !finished)
    return Error{fmt::format("{}: {}", folder, finished.reason())};
  return open;
}

Result<std::unique_ptr<Model>> load_model(const std::string& folder, const ModelOptions& options,
                                          const std::function<void(double)>& progress) {
  auto open = open_model(folder);
  if (!open) return open.error();
  if (auto fits = check_quantization(options.quantization, open->weights); !fits) return fits.error();
  if (auto fits = check_context(options.context, open->family.spec); !fits) return fits.error();
  return Model::build(open->family.spec, open->weights, options, progress);
}

}  // namespace assay::model
