#include "serve/exchange.h"

#include <algorithm>
#include <set>

namespace assay::serve {
namespace {

const char* finish_name(engine::FinishReason reason) {
  switch (reason) {
    case engine::FinishReason::none:
      return "";
    case engine::FinishReason::stop:
      return "stop";
    case engine::FinishReason::length:
      return "length";
    case engine::FinishReason::cancelled:
      return "cancelled";
    case engine::FinishReason::error:
      return "error";
  }
  return "";
}

HttpResponse event_stream() {
  HttpResponse head;
  head.content_type = "text/event-stream; charset=utf-8";
  head.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
  return head;
}

double seconds_since(Exchange::Clock::time_point then) {
  return std::chrono::duration<double>(Exchange::Clock::now() - then).count();
}

}  // namespace

bool InFlight::reserve(size_t count, size_t most) {
  std::lock_guard lock(mutex_);
  if (open_ + count > most) return false;
  open_ += count;
  return true;
}
void InFlight::add(engine::RequestId id, Entry entry) {
  std::lock_guard lock(mutex_);
  entries_.emplace(id, std::move(entry));
}
void InFlight::remove(engine::RequestId id) {
  Entry last;  // its exchange may end here, outside the lock
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  last = std::move(found->second);
  entries_.erase(found);
  --open_;
}
InFlight::Entry InFlight::find(engine::RequestId id) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? Entry() : found->second;
}
std::vector<std::shared_ptr<Exchange>> InFlight::all() const {
  std::lock_guard lock(mutex_);
  std::set<std::shared_ptr<Exchange>> all;
  for (const auto& [id, entry] : entries_) all.insert(entry.exchange);
  return {all.begin(), all.end()};
}
size_t InFlight::size() const {
  std::lock_guard lock(mutex_);
  return open_;
}

Exchange::Exchange(std::shared_ptr<const ModelText> model, Prepared prepared, AnswerHead head,
                   ExchangePorts ports, std::shared_ptr<HttpReply> reply, Clock::time_point received)
    : model_(std::move(model)),
      head_(std::move(head)),
      stream_(prepared.common.stream),
      include_usage_(prepared.common.include_usage),
      ports_(std::move(ports)),
      reply_(std::move(reply)),
      received_(received) {
  const CommonFields& common = prepared.common;
  head_.usage_null = stream_ && include_usage_;
  for (size_t p = 0; p < prepared.prompts.size(); ++p) {
    const PreparedPrompt& prompt = prepared.prompts[p];
    prompt_tokens_ += static_cast<int64_t>(prompt.ids.size());
    for (int i = 0; i < common.n; ++i) {
      engine::Request journal{ports_.next_id->fetch_add(1), prompt.ids, {}, common.sampling};
      journal.sampling.choice_index = static_cast<uint32_t>(i);
      journal.sampling.max_tokens = prepared.max_tokens[p];
      choices_.push_back(
          {std::move(journal),
           Answer(model_->tokenizer, common.stop, common.skip_special_tokens, prompt.in_reasoning),
           prompt.echo, prompt.echo, "", "", false});
    }
  }
}

void Exchange::start() {
  const std::shared_ptr<Exchange> self = shared_from_this();
  {
    std::lock_guard lock(mutex_);
    if (stream_) {
      reply_->begin_stream(event_stream(), ": ping\n\n");
      for (size_t i = 0; i < choices_.size(); ++i) {
        // Chat tells the role first; a completion with echo starts with its prompt.
        if (head_.dialect == Dialect::completion && choices_[i].echo.empty()) continue;
        Piece piece;
        piece.index = static_cast<int>(i);
        piece.first = true;
        piece.content = choices_[i].echo;
        reply_->write(stream_chunk(head_, piece));
      }
    }
    for (size_t i = 0; i < choices_.size(); ++i)
      ports_.in_flight->add(choices_[i].journal.id, {self, static_cast<int>(i)});
    for (const Choice& choice : choices_) ports_.send(SubmitMessage{choice.journal});
  }
  reply_->on_gone([weak = weak_from_this()](Gone why) {
    if (auto alive = weak.lock()) alive->abandon(why);
  });
}

void Exchange::take(int index, const engine::TokenEvent& event) {
  std::lock_guard lock(mutex_);
  Choice& choice = choices_[static_cast<size_t>(index)];
  if (over_ || !choice.finish.empty()) return;
  if (event.token >= 0) {
    choice.journal.emitted.push_back(event.token);
    if (!first_token_seen_) ports_.metrics->observe_first_token(seconds_since(received_));
    first_token_seen_ = true;
  }
  const Answer::Delta delta = choice.answer.push(event);
  if (delta.finish != engine::FinishReason::none) finish_choice(choice, delta);
  deliver(index, choice, delta);
  for (const Choice& other : choices_)
    if (other.finish.empty()) return;
  finish_all();
}

void Exchange::finish_choice(Choice& choice, const Answer::Delta& delta) {
  choice.finish = finish_name(delta.finish);
  ports_.metrics->count_finish(choice.finish);
  leave_engine(choice, delta.by_stop_string);
}

void Exchange::leave_engine(Choice& choice, bool cancel) {
  if (cancel) ports_.send(CancelMessage{choice.journal.id});
  ports_.in_flight->remove(choice.journal.id);
}

void Exchange::deliver(int index, Choice& choice, const Answer::Delta& delta) {
  if (stream_) return stream_piece(index, choice, delta);
  choice.content += delta.content;
  choice.reasoning += delta.reasoning;
}

void Exchange::stream_piece(int index, Choice& choice, const Answer::Delta& delta) {
  if (!delta.content.empty() || !delta.reasoning.empty()) {
    Piece piece;
    piece.index = index;
    piece.content = delta.content;
    piece.reasoning = delta.reasoning;
    reply_->write(stream_chunk(head_, piece));
  }
  if (choice.finish.empty()) return;
  Piece last;
  last.index = index;
  last.finish = choice.finish;
  reply_->write(stream_chunk(head_, last));
}

Usage Exchange::usage() const {
  Usage u;
  u.prompt_tokens = prompt_tokens_;
  for (const Choice& choice : choices_) {
    u.completion_tokens += choice.answer.generated();
    u.reasoning_tokens += choice.answer.reasoning_tokens();
  }
  return u;
}

void Exchange::finish_all() {
  over_ = true;
  ports_.metrics->observe_whole(seconds_since(received_));
  const bool failed = std::any_of(choices_.begin(), choices_.end(), [](const Choice& c) {
    return c.finish == "error" || c.finish == "cancelled";
  });
  const ApiError error{500,
                       "The engine could not finish this request; the server's log says why.",
                       "server_error",
                       "",
                       "engine_error",
                       0};
  if (stream_) {
    if (failed) reply_->write(stream_error(error_json(error)));
    if (!failed && include_usage_) reply_->write(stream_usage(head_, usage()));
    if (!failed) reply_->write(std::string(kStreamDone));
    return reply_->end_stream();
  }
  if (failed) return reply_->send(error_response(error));
  std::vector<FinishedChoice> finished;
  for (Choice& c : choices_) finished.push_back({std::move(c.content), std::move(c.reasoning), c.finish});
  HttpResponse response;
  response.body = whole_answer(head_, finished, usage());
  reply_->send(std::move(response));
}

void Exchange::fail(const ApiError& error) {
  const std::shared_ptr<Exchange> self = shared_from_this();
  std::lock_guard lock(mutex_);
  if (over_) return;
  over_ = true;
  ports_.metrics->count_abort(error.code);
  for (Choice& choice : choices_)
    if (choice.finish.empty()) leave_engine(choice, true);
  if (!stream_) return reply_->send(error_response(error));
  reply_->write(stream_error(error_json(error)));
  reply_->end_stream();
}

void Exchange::abandon(Gone why) {
  const std::shared_ptr<Exchange> self = shared_from_this();
  std::lock_guard lock(mutex_);
  if (over_) return;
  over_ = true;
  ports_.metrics->count_abort(why == Gone::closed    ? "disconnect"
                              : why == Gone::stalled ? "stalled"
                                                     : "slow_reader");
  for (Choice& choice : choices_)
    if (choice.finish.empty()) leave_engine(choice, true);
}

}  // namespace assay::serve
