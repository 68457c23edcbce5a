// assay inspect MODEL: what a checkpoint is, before anything is loaded.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "cli/commands.h"
#include "cli/model_argument.h"
#include "engine/memory_plan.h"
#include "model/inventory.h"
#include "model/load.h"
#include "text/chat_template.h"

namespace assay::cli {
namespace {

namespace json = boost::json;

struct Inspection {
  checkpoint::ModelPath path;
  model::ModelSpec spec;
  std::vector<model::TensorClass> classes;
  std::map<std::string, checkpoint::WeightBinder::Tally> skipped;
  int64_t file_bytes = 0;
  engine::MemoryPlan memory;
  std::string memory_problem;
  std::string template_problem;  // empty: there is one and it loads

  int64_t total(int64_t model::TensorClass::*field) const {
    int64_t sum = 0;
    for (const auto& c : classes) sum += c.*field;
    return sum;
  }
};

Result<Inspection> inspect(const std::string& given) {
  auto path = find_model(given);
  if (!path) return path.error();
  auto open = model::open_model(path->folder);
  if (!open) return open.error();
  Inspection i{.path = *path, .spec = open->family.spec};
  i.classes = model::inventory(i.spec, open->weights);
  i.skipped = open->binder->skipped();
  i.file_bytes = open->checkpoint->bytes();
  const engine::EngineOptions defaults;
  const auto layout = model::cache_layout(i.spec, defaults.page_size);
  auto memory = engine::plan_memory(defaults, i.spec.max_positions, i.total(&model::TensorClass::bytes),
                                    layout, engine::available_memory());
  if (memory)
    i.memory = *memory;
  else
    i.memory_problem = memory.reason();
  auto chat = text::ChatTemplate::load(path->folder, "");
  if (!chat) i.template_problem = chat.reason();
  return i;
}

json::value to_json(const Inspection& i) {
  json::array classes;
  for (const auto& c : i.classes) {
    classes.push_back({{"role", c.role},
                       {"format", c.format},
                       {"matrices", c.matrices},
                       {"parameters", c.parameters},
                       {"active_parameters", c.active_parameters},
                       {"bytes", c.bytes}});
  }
  json::object skipped;
  for (const auto& [rule, tally] : i.skipped)
    skipped[rule] = {{"tensors", tally.tensors}, {"bytes", tally.bytes}};
  json::object memory{{"weight_bytes", i.memory.weight_bytes},
                      {"kv_bytes", i.memory.kv_bytes()},
                      {"kv_pages", i.memory.pages},
                      {"kv_page_bytes", i.memory.page_bytes},
                      {"state_bytes", i.memory.all_state_bytes()},
                      {"state_slots", i.memory.state_slots},
                      {"available_bytes", i.memory.available_bytes}};
  if (!i.memory_problem.empty()) memory = {{"problem", i.memory_problem}};
  return {
      {"model", i.path.name},
      {"folder", i.path.folder},
      {"family", i.spec.family},
      {"architecture", i.spec.architecture},
      {"layers",
       {{"attention", i.spec.count(model::Mixer::attention)}, {"delta", i.spec.count(model::Mixer::delta)}}},
      {"hidden", i.spec.hidden},
      {"vocab", i.spec.vocab},
      {"max_positions", i.spec.max_positions},
      {"parameters", i.total(&model::TensorClass::parameters)},
      {"active_parameters", i.total(&model::TensorClass::active_parameters)},
      {"file_bytes", i.file_bytes},
      {"tensor_classes", std::move(classes)},
      {"skipped", std::move(skipped)},
      {"memory_plan", std::move(memory)},
      {"chat_template", i.template_problem.empty()}};
}

void print(const Inspection& i) {
  fmt::print("{} ({})\n{} / {}: {} attention and {} delta layers, hidden {}, vocabulary {}, context {}\n",
             i.path.name, i.path.folder, i.spec.architecture, i.spec.family,
             i.spec.count(model::Mixer::attention), i.spec.count(model::Mixer::delta), i.spec.hidden,
             i.spec.vocab, i.spec.max_positions);
  fmt::print("parameters {:.3f} M, {:.3f} M active per token; {:.1f} MB of tensors\n\n",
             static_cast<double>(i.total(&model::TensorClass::parameters)) / 1e6,
             static_cast<double>(i.total(&model::TensorClass::active_parameters)) / 1e6,
             static_cast<double>(i.file_bytes) / 1e6);
  fmt::print("{:<24} {:<12} {:>9} {:>14} {:>12}\n", "tensor class", "format", "matrices", "parameters", "MB");
  for (const auto& c : i.classes) {
    fmt::print("{:<24} {:<12} {:>9} {:>14} {:>12.3f}\n", c.role, c.format, c.matrices, c.parameters,
               static_cast<double>(c.bytes) / 1e6);
  }
  for (const auto& [rule, tally] : i.skipped) {
    fmt::print("not loaded: {}: {} tensors, {:.3f} MB\n", rule, tally.tensors,
               static_cast<double>(tally.bytes) / 1e6);
  }
  fmt::print("\nmemory plan: {}\n", i.memory_problem.empty() ? i.memory.text() : i.memory_problem);
  fmt::print("chat template: {}\n", i.template_problem.empty() ? "present" : i.template_problem);
}

}  // namespace

void add_inspect(CLI::App& app, int* exit_code) {
  auto model = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("inspect", "what a checkpoint is: architecture, formats, memory");
  command->add_option("MODEL", *model, "folder, or org/name; default: the embedded model");
  command->add_flag("--json", *as_json, "print as JSON");
  command->callback([model, as_json, exit_code] {
    auto inspection = inspect(*model);
    if (!inspection) {
      fmt::print(stderr, "assay inspect: {}\n", inspection.reason());
      *exit_code = 2;
    } else if (*as_json) {
      fmt::print("{}\n", json::serialize(to_json(*inspection)));
    } else {
      print(*inspection);
    }
  });
}

}  // namespace assay::cli
