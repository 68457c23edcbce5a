#include "engine/scheduler.h"

#include <algorithm>

#include "base/check.h"

namespace assay::engine {

Scheduler::Scheduler(const SchedulerConfig& config)
    : config_(config), pages_(config.pages), slots_(config.state_slots) {}

void Scheduler::submit(Request request) {
  CHECK(!request.prompt.empty());
  counters_.prompt_tokens += request.prompt.size();
  waiting_.push_back(std::make_shared<const Request>(std::move(request)));
}

void Scheduler::cancel(RequestId id) {
  const TokenEvent cancelled{.request = id, .finish = FinishReason::cancelled};
  const auto waiting =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& r) { return r->id == id; });
  if (waiting != waiting_.end()) {
    waiting_.erase(waiting);
    events_.push_back(cancelled);
    counters_.finished_requests++;
    counters_.cancelled_requests++;
    return;
  }
  for (Sequence& sequence : running_) {
    if (sequence.request->id != id || sequence.finished) continue;
    counters_.cancelled_requests++;
    finish(sequence, cancelled);
  }
  release_finished();
}

std::optional<Step> Scheduler::plan() {
  Step step{.ticket = Ticket{next_ticket_}};
  in_flight_.push_back({step.ticket, {}});
  add_decode_rows(step);
  add_prefill_rows(step);
  while (step.tokens() < config_.step_tokens && admit_first()) add_prefill_rows(step);
  if (step.rows.empty()) {
    in_flight_.pop_back();
    return std::nullopt;
  }
  next_ticket_++;
  counters_.steps++;
  return step;
}

// Moves the oldest waiting request into the running ones if its memory is free.
bool Scheduler::admit_first() {
  if (waiting_.empty() || slots_.available() == 0) return false;
  const auto request = waiting_.front();
  const auto longest = static_cast<int64_t>(request->prompt.size()) + request->sampling.max_tokens;
  auto pages = pages_.take((longest + config_.page_size - 1) / config_.page_size);
  if (!pages) {
    // A request that could never fit must not block the others for ever.
    if ((longest + config_.page_size - 1) / config_.page_size > pages_.total()) {
      waiting_.pop_front();
      counters_.finished_requests++;
      events_.push_back({.request = request->id, .finish = FinishReason::error});
      return admit_first();
    }
    return false;
  }
  waiting_.pop_front();
  Sequence sequence{.request = request,
                    .pages = std::make_shared<const std::vector<cache::PageId>>(*std::move(pages)),
                    .slot = slots_.take(1)->front()};
  sequence.prefill = static_cast<int64_t>(request->prompt.size() + request->emitted.size());
  sequence.draws_planned = sequence.draws_done = static_cast<int32_t>(request->emitted.size());
  running_.push_back(std::move(sequence));
  return true;
}

void Scheduler::add_decode_rows(Step& step) {
  for (Sequence& s : running_) {
    const bool decodes =
        !s.finished && s.planned >= s.prefill && s.draws_planned < s.request->sampling.max_tokens;
    if (!decodes || step.tokens() >= config_.step_tokens) continue;
    step.rows.push_back(make_row(s, 1));
  }
}

void Scheduler::add_prefill_rows(Step& step) {
  for (Sequence& s : running_) {
    const int64_t budget = config_.step_tokens - step.tokens();
    if (budget <= 0) return;
    // A sequence has at most one row in a step: its second chunk needs the state of its first.
    const bool in_step = std::any_of(in_flight_.back().rows.begin(), in_flight_.back().rows.end(),
                                     [&](const auto& row) { return row.first == &s; });
    if (s.finished || s.planned >= s.prefill || in_step) continue;
    step.rows.push_back(make_row(s, std::min(budget, s.prefill - s.planned)));
  }
}

// The sequence's next `tokens` tokens as a row of the step being planned.
StepRow Scheduler::make_row(Sequence& s, int64_t tokens) {
  const Request& request = *s.request;
  StepRow row{.request = s.request, .position = static_cast<int32_t>(s.planned), .pages = s.pages};
  for (int64_t i = s.planned; i < s.planned + tokens; ++i) {
    const auto at = static_cast<size_t>(i);
    if (at < request.prompt.size())
      row.tokens.push_back(request.prompt[at]);
    else if (i < s.prefill)
      row.tokens.push_back(request.emitted[at - request.prompt.size()]);
    else if (s.draws_done == s.draws_planned)
      row.tokens.push_back(s.last_token);
    else {
      row.tokens.push_back(kNoToken);
      row.from = s.last_draw;
    }
  }
  row.state_in = s.planned == 0 ? cache::SlotId::none : s.slot;
  row.state_out.assign(static_cast<size_t>(tokens), cache::SlotId::none);
  row.state_out.back() = s.slot;
  s.planned += tokens;
  s.in_flight++;
  InFlight& flight = in_flight_.back();
  const bool draws = s.planned >= s.prefill;
  if (draws) {
    row.draw_index = s.draws_planned++;
    s.last_draw = {flight.ticket, static_cast<int32_t>(flight.rows.size())};
  }
  flight.rows.emplace_back(&s, draws);
  return row;
}

void Scheduler::commit(const StepResult& result) {
  CHECK(!in_flight_.empty() && in_flight_.front().ticket == result.ticket, "results out of order");
  const InFlight flight = std::move(in_flight_.front());
  in_flight_.pop_front();
  CHECK(flight.rows.size() == result.tokens.size());
  for (size_t i = 0; i < flight.rows.size(); ++i) {
    auto [sequence, draws] = flight.rows[i];
    sequence->in_flight--;
    if (draws && !sequence->finished) commit_token(*sequence, result.tokens[i]);
  }
  release_finished();
}

void Scheduler::commit_token(Sequence& s, TokenId token) {
  const SamplingParams& p = s.request->sampling;
  TokenEvent event{.request = s.request->id, .token = token, .index = s.draws_done};
  if (token < 0) {
    finish(s, {.request = s.request->id, .index = s.draws_done, .finish = FinishReason::error});
    return;
  }
  s.last_token = token;
  s.draws_done++;
  counters_.generated_tokens++;
  const auto is_in = [&](const std::vector<TokenId>& ids) {
    return std::find(ids.begin(), ids.end(), token) != ids.end();
  };
  event.is_stop_token = (!p.ignore_eos && is_in(p.eos_ids)) || is_in(p.stop_ids);
  if (event.is_stop_token)
    event.finish = FinishReason::stop;
  else if (s.draws_done >= p.max_tokens)
    event.finish = FinishReason::length;
  if (event.finish != FinishReason::none)
    finish(s, event);
  else
    events_.push_back(event);
}

void Scheduler::finish(Sequence& sequence, TokenEvent event) {
  sequence.finished = true;
  counters_.finished_requests++;
  events_.push_back(event);
}

void Scheduler::release_finished() {
  for (auto it = running_.begin(); it != running_.end();) {
    if (!it->finished || it->in_flight > 0) {
      ++it;
      continue;
    }
    pages_.give_back(*it->pages);
    slots_.give_back({it->slot});
    released_.push_back(it->request->id);
    it = running_.erase(it);
  }
}

std::vector<TokenEvent> Scheduler::take_events() {
  return std::exchange(events_, {});
}
std::vector<RequestId> Scheduler::take_released() {
  return std::exchange(released_, {});
}

std::vector<RequestId> Scheduler::alive() const {
  std::vector<RequestId> ids;
  for (const Sequence& s : running_) {
    if (!s.finished) ids.push_back(s.request->id);
  }
  for (const auto& request : waiting_) ids.push_back(request->id);
  return ids;
}

EngineStats Scheduler::stats() const {
  EngineStats stats = counters_;
  stats.running = static_cast<uint32_t>(running_.size());
  stats.waiting = static_cast<uint32_t>(waiting_.size());
  stats.pages_used = static_cast<uint32_t>(pages_.used());
  stats.pages_total = static_cast<uint32_t>(pages_.total());
  stats.state_slots_used = static_cast<uint32_t>(slots_.used());
  stats.state_slots_total = static_cast<uint32_t>(slots_.total());
  return stats;
}

}  // namespace assay::engine
