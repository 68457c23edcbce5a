// assay prove MODEL: every candidate for every problem of a model, proven in a child process, timed, and
// chosen from.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/threads.h"
#include "cli/commands.h"
#include "cli/model_argument.h"
#include "kernels/prove/planner.h"
#include "model/load.h"

namespace assay::cli {
namespace {

using kernels::BookEntry;
using kernels::BookRunner;
namespace json = boost::json;

struct ProveFlags {
  std::string model, book = kernels::default_plan_book_path();
  bool json = false, again = false, no_timings = false;
  kernels::PlannerOptions planner;
};

// The problems of a model, in text: what its layers would ask the kernel families for.
Result<std::vector<std::string>> problems_of(const std::string& folder) {
  auto open = model::open_model(folder);
  if (!open) return open.error();
  model::ModelOptions options;
  options.borrow_weights = true;  // nothing is copied: only the problems are wanted
  auto built = model::Model::build(open->family.spec, open->weights, options);
  if (!built) return built.error();
  std::vector<std::string> problems;
  for (const model::PlanLine& line : (*built)->plans()) problems.push_back(line.problem);
  return problems;
}

const char* state_text(BookRunner::State state) {
  switch (state) {
    case BookRunner::State::proven:
      return "proven";
    case BookRunner::State::failed:
      return "FAILED";
    case BookRunner::State::refused:
      return "refused";
  }
  return "?";
}

void print_entry(const BookEntry& entry, double bandwidth) {
  const bool colour = isatty(STDOUT_FILENO);
  const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";
  fmt::print("{}\n", entry.problem);
  for (const BookRunner& r : entry.runners) {
    const bool chosen = r.name == entry.chosen;
    std::string detail = r.reason;
    if (r.state == BookRunner::State::proven) {
      detail = fmt::format("{} runs, {} kinds, worst {:.2f} of its bound ({})", r.proof.executions,
                           r.proof.kinds, r.proof.worst_ratio, r.proof.worst_case);
    }
    fmt::print("  {}{:<14}{} {:<8} {}{}\n", chosen ? bold : "", r.name, plain, state_text(r.state), detail,
               chosen ? "  <- chosen" : "");
    for (const kernels::Timing& t : entry.timings) {
      if (t.runner != r.name) continue;
      fmt::print("    {:>4} rows {:>10.1f} us +- {:<7.1f} {:>5.1f} % of the read bandwidth\n", t.rows,
                 t.microseconds, t.spread,
                 100 * static_cast<double>(t.bytes) / (t.microseconds * 1e-6) / bandwidth);
    }
  }
}

json::value to_json(const BookEntry& entry) {
  json::array runners, timings;
  for (const BookRunner& r : entry.runners) {
    runners.push_back({{"name", r.name},
                       {"state", state_text(r.state)},
                       {"reason", r.reason},
                       {"executions", r.proof.executions},
                       {"kinds", r.proof.kinds},
                       {"worst_of_bound", r.proof.worst_ratio},
                       {"worst_case", r.proof.worst_case}});
  }
  for (const kernels::Timing& t : entry.timings) {
    timings.push_back({{"runner", t.runner},
                       {"rows", t.rows},
                       {"microseconds", t.microseconds},
                       {"spread", t.spread},
                       {"bytes", t.bytes}});
  }
  return {{"problem", entry.problem},
          {"runners", std::move(runners)},
          {"timings", std::move(timings)},
          {"chosen", entry.chosen}};
}

// The entries of all problems, old ones from the book where they still hold; the book is saved with what is
// new.
Result<std::vector<BookEntry>> prove_all(const ProveFlags& flags, const std::vector<std::string>& problems) {
  auto book = kernels::PlanBook::load(flags.book);
  if (!book) return book.error();
  std::vector<BookEntry> entries;
  bool changed = false;
  for (const std::string& problem : problems) {
    auto prover = kernels::prover_of(problem);
    if (!prover) return prover.error();
    const auto signature = kernels::current_signature(**prover, flags.planner.threads);
    const BookEntry* known = flags.again ? nullptr : book->find(problem, signature);
    if (known == nullptr) {
      auto entry = kernels::plan_problem(problem, flags.planner);
      if (!entry) return entry.error();
      book->put(*entry);
      entries.push_back(*std::move(entry));
      changed = true;
    } else {
      entries.push_back(*known);
    }
  }
  if (changed) {
    if (auto saved = book->save(flags.book); !saved) return saved.error();
  }
  return entries;
}

Result<bool> run(const ProveFlags& flags) {
  auto path = find_model(flags.model);
  if (!path) return path.error();
  auto problems = problems_of(path->folder);
  if (!problems) return problems.error();
  auto entries = prove_all(flags, *problems);
  if (!entries) return entries.error();
  bool all = true;
  json::array list;
  const double bandwidth = flags.json ? 1 : kernels::measure_read_bandwidth(flags.planner.threads);
  if (!flags.json) fmt::print("{} threads read {:.1f} GB/s\n", flags.planner.threads, bandwidth / 1e9);
  for (const BookEntry& entry : *entries) {
    all &= !entry.chosen.empty();
    if (flags.json)
      list.push_back(to_json(entry));
    else
      print_entry(entry, bandwidth);
  }
  if (flags.json)
    fmt::print("{}\n", json::serialize(json::value{{"proven", all}, {"entries", std::move(list)}}));
  else
    fmt::print("{}; plan book: {}\n",
               all ? "every problem has a proven runner" : "NOT every problem has a proven runner",
               flags.book);
  return all;
}

}  // namespace

void add_prove(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<ProveFlags>();
  flags->planner.threads = usable_cores();
  CLI::App* command =
      app.add_subcommand("prove", "prove and time every kernel a model may use; writes the plan book");
  command->add_option("MODEL", flags->model, "folder, or org/name; default: the embedded model");
  command->add_option("--plan-book", flags->book, "the book to read and extend")->capture_default_str();
  command->add_flag("--again", flags->again, "prove again what the book already has");
  command->add_flag("--no-timings", flags->no_timings, "prove only");
  command->add_option("--threads", flags->planner.threads, "CPU threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--seed", flags->planner.seed, "of the random inputs")->capture_default_str();
  command->add_flag("--json", flags->json, "print as JSON");
  command->callback([flags, exit_code] {
    flags->planner.timings = !flags->no_timings;
    auto proven = run(*flags);
    if (!proven) fmt::print(stderr, "assay prove: {}\n", proven.reason());
    *exit_code = !proven ? 2 : *proven ? 0 : 1;
  });
}

void add_prove_worker(CLI::App& app, int* exit_code) {
  auto task = std::make_shared<kernels::ProofTask>();
  CLI::App* command = app.add_subcommand("prove-worker", "")->group("");  // hidden: started by `prove`
  command->add_option("--problem", task->problem)->required();
  command->add_option("--runner", task->runner)->required();
  command->add_option("--seed", task->seed);
  command->add_option("--threads", task->threads)->check(CLI::Range(1, 1024));
  command->callback([task, exit_code] { *exit_code = kernels::run_prove_worker(*task, STDOUT_FILENO); });
}

}  // namespace assay::cli
