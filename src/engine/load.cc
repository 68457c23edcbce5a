#include "engine/load.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/threads.h"
#include "engine/canary.h"
#include "engine/cpu_executor.h"
#include "engine/memory_plan.h"
#include "engine/scheduler.h"
#include "model/load.h"

namespace assay::engine {
namespace {

Result<model::ModelOptions> model_options(const EngineOptions& options) {
  model::ModelOptions m;
  if (!options.precision.empty()) {
    const auto precision = kernels::precision_from_name(options.precision);
    if (!precision)
      return Error{
          fmt::format("precision class {:?} is unknown; known: w4a32, w4a16, w4a4", options.precision)};
    m.precision = *precision;
  }
  m.moe_backend = options.moe_runner_backend;
  m.quantization = options.quantization;
  m.threads = options.threads > 0 ? options.threads : usable_cores();
  m.page_size = options.page_size;
  m.max_rows = std::max<int64_t>({options.chunked_prefill_size, options.max_running_requests, kCanaryTokens});
  return m;
}

// The reference path for the canary: the same tensors, borrowed from the open checkpoint, and only reference
// runners.
Result<std::unique_ptr<model::Model>> reference_model(const model::OpenModel& open,
                                                      model::ModelOptions options) {
  options.set_all_backends("reference");
  options.borrow_weights = true;
  options.state_slots = 1;
  options.max_rows = options.context = kCanaryTokens;
  options.pages = (kCanaryTokens + options.page_size - 1) / options.page_size;
  return model::Model::build(open.family.spec, open.weights, options);
}

Result<void> size_memory(const EngineOptions& options, const model::OpenModel& open, model::ModelOptions* m) {
  const auto& spec = open.family.spec;
  m->context = options.context_length > 0 ? options.context_length : spec.max_positions;
  if (auto fits = model::check_context(m->context, spec); !fits) return fits.error();
  if (m->context < kCanaryTokens) {
    return Error{fmt::format("--context-length {}: at least {} are needed", m->context, int{kCanaryTokens})};
  }
  auto plan = plan_memory(options, m->context, open.checkpoint->bytes(),
                          model::cache_layout(spec, options.page_size), available_memory());
  if (!plan) return plan.error();
  m->pages = plan->pages;
  m->state_slots = plan->state_slots;
  log_info("memory plan: {}", plan->text());
  return {};
}

}  // namespace

Result<LoadedEngine> load_engine(const EngineOptions& options, int32_t tokenizer_size, Engine::EventSink sink,
                                 const Progress& progress) {
  auto m = model_options(options);
  if (!m) return m.error();
  progress("checkpoint", 0);
  auto open = model::open_model(options.model_path);
  if (!open) return open.error();
  if (auto fits = model::check_quantization(m->quantization, open->weights); !fits) return fits.error();
  if (auto sized = size_memory(options, *open, &*m); !sized) return sized.error();
  progress("weights", 0);
  auto model =
      model::Model::build(open->family.spec, open->weights, *m, [&](double f) { progress("weights", f); });
  if (!model) return model.error();
  for (const model::PlanLine& line : (*model)->plans()) log_info("plan: {} -> {}", line.problem, line.runner);
  progress("canary", 0);
  auto reference = reference_model(*open, *m);
  if (!reference) return reference.error();
  if (auto equal = run_canary(**model, **reference); !equal) return equal.error();
  progress("ready", 1);

  LoadedEngine loaded;
  loaded.card = {.architecture = open->family.spec.architecture,
                 .vocab_size = static_cast<int32_t>(open->family.spec.vocab),
                 .context_length = static_cast<int32_t>(m->context),
                 .weight_bytes = (*model)->packed_bytes()};
  const SchedulerConfig config{.page_size = m->page_size,
                               .pages = m->pages,
                               .state_slots = m->state_slots,
                               .step_tokens = m->max_rows};
  const int32_t token_limit = std::min(tokenizer_size, loaded.card.vocab_size);
  loaded.engine = std::make_unique<Engine>(make_cpu_executor(*std::move(model), token_limit),
                                           std::make_unique<Scheduler>(config), std::move(sink));
  return loaded;
}

}  // namespace assay::engine
