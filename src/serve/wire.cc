#include "serve/wire.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace assay::serve {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire copies little-endian values as they are");

class Writer {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out_.append(bytes, sizeof(T));
  }
  void boolean(bool value) { number<uint8_t>(value ? 1 : 0); }
  void text(std::string_view value) {
    const std::string_view cut = value.substr(0, kWireMaxText);
    number<uint32_t>(static_cast<uint32_t>(cut.size()));
    out_.append(cut);
  }
  void ids(const std::vector<int32_t>& values) {
    CHECK(values.size() <= kWireMaxIds, "{} ids", values.size());
    number<uint32_t>(static_cast<uint32_t>(values.size()));
    for (int32_t id : values) number(id);
  }
  std::string frame(uint16_t type) && {
    CHECK(out_.size() <= kWireMaxPayload, "payload of {} bytes", out_.size());
    Writer head;
    head.number(kWireMagic);
    head.number(type);
    head.number<uint16_t>(0);
    head.number<uint32_t>(static_cast<uint32_t>(out_.size()));
    return std::move(head.out_) + out_;
  }

 private:
  std::string out_;
};

// Reads never run past the end: after the first short read every further read gives zero and `ok` is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <class T>
  T number() {
    T value{};
    if (left_.size() < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, left_.data(), sizeof(T));
    left_.remove_prefix(sizeof(T));
    return value;
  }
  bool boolean() {
    const uint8_t value = number<uint8_t>();
    if (value > 1) fail();
    return value == 1;
  }
  // How many entries follow; bounded by what the rest of the payload can hold, so allocation is too.
  size_t count(size_t most, size_t bytes_each) {
    const size_t n = number<uint32_t>();
    if (n > most || n > left_.size() / bytes_each) {
      fail();
      return 0;
    }
    return n;
  }
  std::string text() {
    const size_t n = count(kWireMaxText, 1);
    std::string value(left_.substr(0, n));
    left_.remove_prefix(n);
    return value;
  }
  std::vector<int32_t> ids() {
    std::vector<int32_t> values(count(kWireMaxIds, sizeof(int32_t)));
    for (int32_t& id : values) id = number<int32_t>();
    return values;
  }
  void require(bool condition) {
    if (!condition) fail();
  }
  bool done() const { return ok_ && left_.empty(); }

 private:
  void fail() {
    ok_ = false;
    left_ = {};
  }
  std::string_view left_;
  bool ok_ = true;
};

void put(Writer& w, const HelloMessage& m) {
  w.number(m.tokenizer_size);
}
void get(Reader& r, HelloMessage* m) {
  m->tokenizer_size = r.number<int32_t>();
}

void put(Writer& w, const engine::SamplingParams& s) {
  w.number(s.temperature);
  w.number(s.top_p);
  w.number(s.min_p);
  w.number(s.top_k);
  w.number(s.repetition_penalty);
  w.number(s.presence_penalty);
  w.number(s.frequency_penalty);
  w.number(s.seed);
  w.number(s.choice_index);
  w.number(s.max_tokens);
  w.number(s.min_tokens);
  w.boolean(s.ignore_eos);
  w.ids(s.eos_ids);
  w.ids(s.stop_ids);
  w.number<uint32_t>(static_cast<uint32_t>(s.logit_bias.size()));
  for (const auto& [id, bias] : s.logit_bias) {
    w.number(id);
    w.number(bias);
  }
}
void get(Reader& r, engine::SamplingParams* s) {
  s->temperature = r.number<float>();
  s->top_p = r.number<float>();
  s->min_p = r.number<float>();
  s->top_k = r.number<int32_t>();
  s->repetition_penalty = r.number<float>();
  s->presence_penalty = r.number<float>();
  s->frequency_penalty = r.number<float>();
  s->seed = r.number<uint64_t>();
  s->choice_index = r.number<uint32_t>();
  s->max_tokens = r.number<int32_t>();
  s->min_tokens = r.number<int32_t>();
  s->ignore_eos = r.boolean();
  s->eos_ids = r.ids();
  s->stop_ids = r.ids();
  s->logit_bias.resize(r.count(kWireMaxIds, sizeof(int32_t) + sizeof(float)));
  for (auto& [id, bias] : s->logit_bias) {
    id = r.number<int32_t>();
    bias = r.number<float>();
    r.require(std::isfinite(bias));
  }
  const float numbers[] = {
      s->temperature, s->top_p, s->min_p, s->repetition_penalty, s->presence_penalty, s->frequency_penalty};
  for (float number : numbers) r.require(std::isfinite(number));
  r.require(s->max_tokens >= 1 && s->temperature >= 0);
}

void put(Writer& w, const SubmitMessage& m) {
  w.number(m.request.id);
  w.ids(m.request.prompt);
  w.ids(m.request.emitted);
  put(w, m.request.sampling);
}
void get(Reader& r, SubmitMessage* m) {
  m->request.id = r.number<uint64_t>();
  m->request.prompt = r.ids();
  m->request.emitted = r.ids();
  get(r, &m->request.sampling);
  r.require(!m->request.prompt.empty());
}

void put(Writer& w, const CancelMessage& m) {
  w.number(m.id);
}
void get(Reader& r, CancelMessage* m) {
  m->id = r.number<uint64_t>();
}

constexpr size_t kEventBytes = 8 + 4 + 4 + 1 + 1;

void put(Writer& w, const TokensMessage& m) {
  CHECK(m.events.size() <= kWireMaxEvents, "{} events", m.events.size());
  w.number<uint32_t>(static_cast<uint32_t>(m.events.size()));
  for (const engine::TokenEvent& e : m.events) {
    w.number(e.request);
    w.number(e.token);
    w.number(e.index);
    w.number(static_cast<uint8_t>(e.finish));
    w.boolean(e.is_stop_token);
  }
}
void get(Reader& r, TokensMessage* m) {
  m->events.resize(r.count(kWireMaxEvents, kEventBytes));
  for (engine::TokenEvent& e : m->events) {
    e.request = r.number<uint64_t>();
    e.token = r.number<int32_t>();
    e.index = r.number<int32_t>();
    const uint8_t finish = r.number<uint8_t>();
    r.require(finish <= static_cast<uint8_t>(engine::FinishReason::error));
    e.finish = static_cast<engine::FinishReason>(finish);
    e.is_stop_token = r.boolean();
  }
}

void put(Writer& w, const StatsMessage& m) {
  const engine::EngineStats& s = m.stats;
  for (uint64_t v : {s.steps, s.prompt_tokens, s.generated_tokens, s.finished_requests, s.cancelled_requests})
    w.number(v);
  for (uint32_t v :
       {s.running, s.waiting, s.pages_used, s.pages_total, s.state_slots_used, s.state_slots_total})
    w.number(v);
}
void get(Reader& r, StatsMessage* m) {
  engine::EngineStats& s = m->stats;
  for (uint64_t* v :
       {&s.steps, &s.prompt_tokens, &s.generated_tokens, &s.finished_requests, &s.cancelled_requests})
    *v = r.number<uint64_t>();
  for (uint32_t* v :
       {&s.running, &s.waiting, &s.pages_used, &s.pages_total, &s.state_slots_used, &s.state_slots_total})
    *v = r.number<uint32_t>();
}

void put(Writer& w, const ProgressMessage& m) {
  w.text(m.phase);
  w.number(m.fraction);
}
void get(Reader& r, ProgressMessage* m) {
  m->phase = r.text();
  m->fraction = r.number<double>();
  r.require(m->fraction >= 0 && m->fraction <= 1);  // false for NaN
}

void put(Writer& w, const LoadedMessage& m) {
  w.text(m.architecture);
  w.number(m.vocab_size);
  w.number(m.context_length);
  w.number(m.weight_bytes);
}
void get(Reader& r, LoadedMessage* m) {
  m->architecture = r.text();
  m->vocab_size = r.number<int32_t>();
  m->context_length = r.number<int32_t>();
  m->weight_bytes = r.number<int64_t>();
  r.require(m->vocab_size > 0 && m->context_length > 0 && m->weight_bytes >= 0);
}

void put(Writer& w, const FatalMessage& m) {
  w.text(m.reason);
}
void get(Reader& r, FatalMessage* m) {
  m->reason = r.text();
}

template <class Message>
Result<WireMessage> decode_as(std::string_view payload) {
  Reader reader(payload);
  Message message;
  get(reader, &message);
  if (!reader.done())
    return Error{fmt::format("wire: a payload of {} bytes does not decode as its type says", payload.size())};
  return WireMessage(std::move(message));
}

}  // namespace

std::string encode_wire(const WireMessage& message) {
  Writer writer;
  std::visit([&](const auto& m) { put(writer, m); }, message);
  return std::move(writer).frame(static_cast<uint16_t>(message.index()));
}

Result<WireHeader> decode_wire_header(std::string_view bytes) {
  Reader reader(bytes.substr(0, kWireHeaderBytes));
  const uint32_t magic = reader.number<uint32_t>();
  WireHeader header;
  header.type = reader.number<uint16_t>();
  const uint16_t zero = reader.number<uint16_t>();
  header.length = reader.number<uint32_t>();
  if (!reader.done() || magic != kWireMagic || zero != 0) return Error{"wire: not a message header"};
  if (header.type >= std::variant_size_v<WireMessage>)
    return Error{fmt::format("wire: unknown message type {}", header.type)};
  if (header.length > kWireMaxPayload)
    return Error{
        fmt::format("wire: a message of {} bytes, at most {} are allowed", header.length, kWireMaxPayload)};
  return header;
}

Result<WireMessage> decode_wire_payload(const WireHeader& header, std::string_view payload) {
  if (payload.size() != header.length) return Error{"wire: the payload is shorter than its header says"};
  using Decoder = Result<WireMessage> (*)(std::string_view);
  static constexpr auto kDecoders = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<Decoder, sizeof...(I)>{decode_as<std::variant_alternative_t<I, WireMessage>>...};
  }
  (std::make_index_sequence<std::variant_size_v<WireMessage>>{});
  CHECK(header.type < kDecoders.size());
  return kDecoders[header.type](payload);
}

Result<std::optional<WireMessage>> WireReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  if (rest.size() < kWireHeaderBytes) {
    buffer_.erase(0, start_);
    start_ = 0;
    return std::optional<WireMessage>();
  }
  Result<WireHeader> header = decode_wire_header(rest);
  if (!header) return header.error();
  if (rest.size() - kWireHeaderBytes < header->length) {
    buffer_.erase(0, start_);
    start_ = 0;
    return std::optional<WireMessage>();
  }
  Result<WireMessage> message = decode_wire_payload(*header, rest.substr(kWireHeaderBytes, header->length));
  if (!message) return message.error();
  start_ += kWireHeaderBytes + header->length;
  return std::optional<WireMessage>(std::move(*message));
}

}  // namespace assay::serve
