#include "engine/cpu_executor.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/check.h"
#include "engine/sampler.h"

namespace assay::engine {
namespace {

class CpuExecutor final : public Executor {
 public:
  CpuExecutor(std::unique_ptr<model::Model> model, int32_t token_limit)
      : model_(std::move(model)),
        token_limit_(token_limit),
        thread_([this](std::stop_token stop) { work(stop); }) {}

  void submit(Step step) override {
    const std::lock_guard lock(mutex_);
    todo_.push_back(std::move(step));
    wake_.notify_all();
  }

  StepResult collect() override {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return !done_.empty(); });
    StepResult result = std::move(done_.front());
    done_.pop_front();
    return result;
  }

  void release(RequestId id) override {
    const std::lock_guard lock(mutex_);
    released_.push_back(id);
  }

 private:
  void work(std::stop_token stop) {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, stop, [&] { return !todo_.empty(); });
      if (todo_.empty()) return;  // stop requested
      const Step step = std::move(todo_.front());
      todo_.pop_front();
      for (RequestId id : std::exchange(released_, {})) histories_.erase(id);
      lock.unlock();
      StepResult result = run(step);
      lock.lock();
      done_.push_back(std::move(result));
      wake_.notify_all();
    }
  }

  StepResult run(const Step& step) {
    StepResult result{.ticket = step.ticket};
    const Placement placement = place(step);
    model_->forward(placement.batch, logits_);
    const auto vocab = static_cast<size_t>(model_->spec().vocab);
    size_t logit_row = 0;
    for (const StepRow& row : step.rows) {
      if (row.draw_index < 0) {
        result.tokens.push_back(kNoToken);
        continue;
      }
      result.tokens.push_back(draw(row, std::span(logits_).subspan(vocab * logit_row++, vocab)));
    }
    previous_ = result;
    return result;
  }

  TokenId draw(const StepRow& row, std::span<float> logits) {
    const SamplingParams& params = row.request->sampling;
    TokenHistory* history = nullptr;
    if (needs_history(params)) history = &histories_.try_emplace(row.request->id, *row.request).first->second;
    const TokenId token = sample(logits, params, row.draw_index, token_limit_, history, row.mask.get());
    if (history != nullptr && token >= 0) history->add(token);
    if (row.mask != nullptr && token >= 0) row.mask->accept(token);
    return token;
  }

  // The batch, and the arrays that its sequences point into.
  struct Placement {
    model::Batch batch;
    std::deque<std::vector<int32_t>> indices;
  };

  Placement place(const Step& step) const {
    Placement p;
    for (const StepRow& row : step.rows) {
      const auto begin = static_cast<int64_t>(p.batch.ids.size());
      for (size_t i = 0; i < row.tokens.size(); ++i) {
        p.batch.ids.push_back(row.from ? token_of(*row.from) : row.tokens[i]);
        p.batch.positions.push_back(row.position + static_cast<int32_t>(i));
      }
      auto& pages = p.indices.emplace_back();
      for (cache::PageId page : *row.pages) pages.push_back(static_cast<int32_t>(page));
      auto& state_out = p.indices.emplace_back();
      for (cache::SlotId slot : row.state_out) state_out.push_back(static_cast<int32_t>(slot));
      p.batch.sequences.push_back({.row_begin = begin,
                                   .row_count = static_cast<int64_t>(row.tokens.size()),
                                   .position = row.position,
                                   .pages = pages,
                                   .state_in = static_cast<int32_t>(row.state_in),
                                   .state_out = state_out});
      if (row.draw_index >= 0) p.batch.logit_rows.push_back(static_cast<int32_t>(p.batch.ids.size()) - 1);
    }
    return p;
  }

  // A row may name the token of the step right before. A token that could not be drawn ended its sequence;
  // whatever stands in for it is thrown away by commit.
  TokenId token_of(const TokenRef& ref) const {
    CHECK(ref.ticket == previous_.ticket, "a row names a token of a step that is not the previous one");
    return std::max<TokenId>(previous_.tokens[static_cast<size_t>(ref.row)], 0);
  }

  std::unique_ptr<model::Model> model_;
  int32_t token_limit_;
  std::vector<float> logits_;
  StepResult previous_;
  std::unordered_map<RequestId, TokenHistory> histories_;

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Step> todo_;
  std::deque<StepResult> done_;
  std::vector<RequestId> released_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace

std::unique_ptr<Executor> make_cpu_executor(std::unique_ptr<model::Model> model, int32_t token_limit) {
  return std::make_unique<CpuExecutor>(std::move(model), token_limit);
}

}  // namespace assay::engine
