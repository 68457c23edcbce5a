// assay verify MODEL: the engine against the reference outputs stored beside a checkpoint.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/threads.h"
#include "cli/commands.h"
#include "cli/model_argument.h"
#include "model/load.h"
#include "model/verifier.h"

namespace assay::cli {
namespace {

struct VerifyFlags {
  std::string model, precision = "w4a32", routing = "own", backend = "auto";
  int threads = 0;
  bool json = false;
};

boost::json::value to_json(const model::VerifyReport& report) {
  boost::json::array prompts;
  for (const model::PromptReport& p : report.prompts) {
    boost::json::object o{{"name", p.name},
                          {"tokens", p.tokens},
                          {"rows_compared", p.rows_compared},
                          {"worst", p.worst},
                          {"mean", p.mean},
                          {"median", p.median},
                          {"p99", p.p99},
                          {"judged", p.judged},
                          {"bound", p.bound},
                          {"tokens_within", p.token_share_within},
                          {"chunks_agree", p.chunks_agree},
                          {"flipped_experts", p.flipped_experts},
                          {"passed", p.passed}};
    o["first_layer_out_of_bound"] = p.layer_out_of_bound < 0 ? boost::json::value() : p.layer_out_of_bound;
    if (p.greedy) {
      o["greedy_difference"] = {{"step", p.greedy->step},
                                {"expected", p.greedy->expected},
                                {"found", p.greedy->found},
                                {"margin", p.greedy->margin}};
    } else {
      o["greedy_difference"] = nullptr;
    }
    prompts.push_back(std::move(o));
  }
  return {{"passed", report.passed}, {"prompts", std::move(prompts)}};
}

void print(const model::VerifyReport& report, const std::string& precision) {
  fmt::print("class {}\n{:<18} {:>6} {:>10} {:>10} {:>10}  {}\n", precision, "prompt", "tokens", "worst",
             "mean", "bound", "verdict");
  for (const model::PromptReport& p : report.prompts) {
    std::string notes;
    if (precision == "w4a4")
      notes += fmt::format("; {:.0f} % of tokens within 0.01", 100 * p.token_share_within);
    if (p.greedy) {
      notes += fmt::format("; greedy step {}: {} instead of {}, margin {:.4g}", p.greedy->step,
                           p.greedy->found, p.greedy->expected, p.greedy->margin);
    }
    if (p.layer_out_of_bound >= 0) notes += fmt::format("; hidden.{} out of bound", p.layer_out_of_bound);
    if (p.flipped_experts > 0) notes += fmt::format("; {} expert choices differ", p.flipped_experts);
    if (!p.chunks_agree) notes += "; prefill in chunks differs";
    if (p.rows_compared == 0) notes += "; no logits stored";
    fmt::print("{:<18} {:>6} {:>10.3g} {:>10.3g} {:>10.3g}  {} ({}{})\n", p.name, p.tokens, p.worst, p.mean,
               p.bound, p.passed ? "ok" : "FAILED", p.judged, notes);
  }
  fmt::print("{}\n", report.passed ? "passed" : "FAILED");
}

Result<model::VerifyReport> run(const VerifyFlags& flags) {
  auto path = find_model(flags.model);
  if (!path) return path.error();
  auto golden = model::Golden::load(path->folder);
  if (!golden) return golden.error();
  model::ModelOptions options;
  options.precision = *kernels::precision_from_name(flags.precision);
  options.threads = flags.threads > 0 ? flags.threads : usable_cores();
  options.set_all_backends(flags.backend);
  model::size_for_golden(*golden, options);
  auto model = model::load_model(path->folder, options);
  if (!model) return model.error();
  return model::verify(**model, *golden, {.golden_routing = flags.routing == "golden"});
}

}  // namespace

void add_verify(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command =
      app.add_subcommand("verify", "compare the engine with the golden outputs beside a checkpoint");
  command->add_option("MODEL", flags->model, "folder, or org/name; default: the embedded model");
  command->add_option("--precision", flags->precision, "precision class to judge")
      ->check(CLI::IsMember({"w4a32", "w4a16", "w4a4"}))
      ->capture_default_str();
  command->add_option("--routing", flags->routing, "golden: use the stored expert choice where there is one")
      ->check(CLI::IsMember({"own", "golden"}))
      ->capture_default_str();
  command->add_option("--backend", flags->backend,
                      "runner of every kernel family: auto, or a name (reference)");
  command->add_option("--threads", flags->threads, "CPU threads; 0 = all cores")->check(CLI::Range(0, 1024));
  command->add_flag("--json", flags->json, "print the report as JSON");
  command->callback([flags, exit_code] {
    auto report = run(*flags);
    if (!report) {
      fmt::print(stderr, "assay verify: {}\n", report.reason());
      *exit_code = 2;
      return;
    }
    if (flags->json) {
      fmt::print("{}\n", boost::json::serialize(to_json(*report)));
    } else {
      print(*report, flags->precision);
    }
    *exit_code = report->passed ? 0 : 1;
  });
}

}  // namespace assay::cli
