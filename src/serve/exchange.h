#pragma once
// Exchange: one generation request of a client, from submit to the last byte: n choices of one or more
// prompts, each an engine request with a journal that says all a fresh engine would need to go on.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "serve/answer.h"
#include "serve/http_server.h"
#include "serve/metrics.h"
#include "serve/model_text.h"
#include "serve/openai_format.h"

namespace assay::serve {

class Exchange;

// All engine requests that are open, by id. Thread-safe.
class InFlight {
 public:
  struct Entry {
    std::shared_ptr<Exchange> exchange;
    int choice = 0;
  };
  // False when `count` more would exceed `most`; else the ids are reserved: add() each, or release() them.
  bool reserve(size_t count, size_t most);
  void add(engine::RequestId id, Entry entry);
  void remove(engine::RequestId id);
  Entry find(engine::RequestId id) const;  // exchange is null if unknown
  std::vector<std::shared_ptr<Exchange>> all() const;
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  size_t open_ = 0;
  std::unordered_map<engine::RequestId, Entry> entries_;
};

// Where an exchange sends to: the engine, and what it counts on.
struct ExchangePorts {
  std::function<void(const WireMessage&)> send;
  InFlight* in_flight = nullptr;
  Metrics* metrics = nullptr;
  std::atomic<engine::RequestId>* next_id = nullptr;
};

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  using Clock = std::chrono::steady_clock;

  Exchange(std::shared_ptr<const ModelText> model, Prepared prepared, AnswerHead head, ExchangePorts ports,
           std::shared_ptr<HttpReply> reply, Clock::time_point received);

  size_t choices() const { return choices_.size(); }
  // The ids are reserved in ports.in_flight already.
  void start();
  // In order, on the link's thread.
  void take(int choice, const engine::TokenEvent& event);
  // The engine died, or never answered.
  void fail(const ApiError& error);

 private:
  struct Choice {
    engine::Request journal;  // prompt, emitted ids, sampling
    Answer answer;
    std::string echo;
    std::string content, reasoning;  // of an answer that is not streamed
    std::string finish;              // empty while it runs
    bool started = false;
  };

  void abandon(Gone why);
  void deliver(int index, Choice& choice, const Answer::Delta& delta);
  void stream_piece(int index, Choice& choice, const Answer::Delta& delta);
  void finish_choice(Choice& choice, const Answer::Delta& delta);
  void finish_all();
  void leave_engine(Choice& choice, bool cancel);
  Usage usage() const;

  std::shared_ptr<const ModelText> model_;
  AnswerHead head_;
  bool stream_, include_usage_;
  ExchangePorts ports_;
  std::shared_ptr<HttpReply> reply_;
  Clock::time_point received_;
  std::mutex mutex_;
  std::vector<Choice> choices_;
  int64_t prompt_tokens_ = 0;
  bool first_token_seen_ = false;
  bool over_ = false;
};

}  // namespace assay::serve
