// Building a model: plans, packed weights, booked memory. The network itself is in forward.cc.
#include "model/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/plan/checkpoint_layout.h"

namespace assay::model {

Model::Model(const ModelSpec& spec, const ModelOptions& options)
    : spec_(spec), options_(options), arena_(options.borrow_weights) {
  if (options_.context == 0) options_.context = spec.max_positions;
  pool_ = std::make_unique<ThreadPool>(options.threads);
}

Result<std::unique_ptr<Model>> Model::build(const ModelSpec& spec, const ModelWeights& weights,
                                            const ModelOptions& options,
                                            const std::function<void(double)>& progress) {
  std::unique_ptr<Model> model(new Model(spec, options));
  if (auto built = model->build_layers(weights, progress); !built) return built.error();
  model->book_memory();
  return model;
}

Result<void> Model::build_layers(const ModelWeights& weights, const std::function<void(double)>& progress) {
  Builder builder(spec_, options_, arena_);
  small_ = builder.plan(kernels::small_runners(),
                        kernels::SmallProblem{.hidden = spec_.hidden, .precision = options_.precision},
                        options_.small_backend);
  embedding_ = kernels::pack_as_stored(weights.embedding, arena_);
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    const LayerWeights& w = weights.layers[i];
    Layer layer{.input_norm = w.input_norm, .post_norm = w.post_norm};
    if (w.attention) {
      layer.mixer = make_attention_block(builder, *w.attention, cache_.page_floats);
      cache_.page_floats += attention_page_floats(spec_.attention, options_.page_size);
    } else {
      layer.mixer = make_delta_block(builder, *w.delta, cache_.state_floats);
      cache_.state_floats += delta_state_floats(spec_.delta);
    }
    layer.ffn = std::make_unique<MoeBlock>(builder, spec_.layers[i].ffn, w);
    layers_.push_back(std::move(layer));
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(spec_.layers.size() + 1));
  }
  final_norm_ = weights.final_norm;
  head_ = LinearGroup(builder, std::vector{weights.head});
  plans_ = builder.lines();
  if (builder.problems().empty()) return {};
  return Error{fmt::format("{}", fmt::join(builder.problems(), "\n"))};
}

void Model::book_memory() {
  const int64_t rows = options_.max_rows;
  int64_t block_floats = 0;
  size_t scratch = head_.scratch_bytes(rows, options_.threads);
  const auto add = [&](const Booking& booking) {
    block_floats = std::max(block_floats, booking.floats_per_row);
    scratch = std::max(scratch, booking.scratch_bytes);
  };
  for (const Layer& layer : layers_) {
    add(layer.mixer->booking(rows, options_.context, options_.threads));
    add(layer.ffn->booking(rows, options_.threads));
  }
  // Residual, norm's output and block's output live through a layer; 16 x 8 floats pay for rounding.
  workspace_ = Workspace(static_cast<size_t>(rows * (3 * spec_.hidden + block_floats) + 16 * 8));
  scratch_ = LazyBuffer(scratch + kAlignment);
  cache_.pages = LazyBuffer(static_cast<size_t>(options_.pages * cache_.page_floats) * sizeof(float));
  cache_.states = LazyBuffer(static_cast<size_t>(options_.state_slots * cache_.state_floats) * sizeof(float));
}

cache::CacheLayout cache_layout(const ModelSpec& spec, int64_t page_size) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(float));
  return {
      .page_size = page_size,
      .page_bytes = spec.count(Mixer::attention) * attention_page_floats(spec.attention, page_size) * kBytes,
      .state_bytes = spec.count(Mixer::delta) * delta_state_floats(spec.delta) * kBytes};
}

}  // namespace assay::model
