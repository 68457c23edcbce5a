#include "serve/wire.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace assay::serve {
namespace {

using Rng = std::mt19937_64;

int32_t pick(Rng& rng, int32_t below) {
  return static_cast<int32_t>(rng() % static_cast<uint64_t>(below));
}

std::vector<int32_t> some_ids(Rng& rng) {
  std::vector<int32_t> ids(static_cast<size_t>(pick(rng, 20)));
  for (int32_t& id : ids) id = static_cast<int32_t>(rng());
  return ids;
}

engine::Request some_request(Rng& rng) {
  engine::Request r;
  r.id = rng();
  r.prompt = some_ids(rng);
  r.prompt.push_back(1);
  r.emitted = some_ids(rng);
  engine::SamplingParams& s = r.sampling;
  s.temperature = static_cast<float>(pick(rng, 100)) / 50;
  s.top_p = 0.5f;
  s.top_k = pick(rng, 100);
  s.seed = rng();
  s.choice_index = static_cast<uint32_t>(pick(rng, 8));
  s.max_tokens = 1 + pick(rng, 1000);
  s.min_tokens = pick(rng, 5);
  s.ignore_eos = rng() % 2 == 0;
  s.eos_ids = some_ids(rng);
  s.stop_ids = some_ids(rng);
  for (int i = pick(rng, 4); i > 0; --i) s.logit_bias.emplace_back(pick(rng, 5000), -1.5f);
  return r;
}

WireMessage some_message(Rng& rng) {
  switch (pick(rng, 8)) {
    case 0:
      return HelloMessage{pick(rng, 100000)};
    case 1:
      return SubmitMessage{some_request(rng)};
    case 2:
      return CancelMessage{rng()};
    case 3: {
      TokensMessage m;
      for (int i = pick(rng, 30); i > 0; --i)
        m.events.push_back(
            {rng(), pick(rng, 5000), i, static_cast<engine::FinishReason>(pick(rng, 5)), rng() % 2 == 0});
      return m;
    }
    case 4: {
      StatsMessage m;
      m.stats.steps = rng();
      m.stats.pages_used = static_cast<uint32_t>(rng());
      m.stats.state_slots_total = static_cast<uint32_t>(rng());
      return m;
    }
    case 5:
      return ProgressMessage{"weights", 0.25};
    case 6:
      return LoadedMessage{"SomeForCausalLM", 1 + pick(rng, 100000), 4096, 12345678901};
    default:
      return FatalMessage{std::string(static_cast<size_t>(pick(rng, 300)), 'x')};
  }
}

Result<std::optional<WireMessage>> decode(std::string_view bytes) {
  WireReader reader;
  reader.feed(bytes);
  return reader.next();
}

TEST(Wire, EveryMessageComesBack) {
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const WireMessage message = some_message(rng);
    const auto back = decode(encode_wire(message));
    ASSERT_TRUE(back) << back.reason();
    ASSERT_TRUE(back->has_value());
    EXPECT_TRUE(**back == message) << "type " << message.index();
  }
}

TEST(Wire, StreamsAreCutAnywhere) {
  Rng rng(2);
  std::vector<WireMessage> sent;
  std::string bytes;
  for (int i = 0; i < 200; ++i) bytes += encode_wire(sent.emplace_back(some_message(rng)));
  WireReader reader;
  size_t got = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t n = std::min<size_t>(1 + rng() % 97, bytes.size() - at);
    reader.feed(std::string_view(bytes).substr(at, n));
    at += n;
    while (true) {
      auto next = reader.next();
      ASSERT_TRUE(next) << next.reason();
      if (!next->has_value()) break;
      ASSERT_LT(got, sent.size());
      EXPECT_TRUE(**next == sent[got++]);
    }
  }
  EXPECT_EQ(got, sent.size());
}

// A payload that was cut, with a header that admits it, must not decode; with the old header more bytes are
// awaited.
TEST(Wire, EveryTruncationIsRefused) {
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const std::string bytes = encode_wire(some_message(rng));
    for (size_t n = 0; n < bytes.size(); ++n) {
      const auto waiting = decode(std::string_view(bytes).substr(0, n));
      ASSERT_TRUE(waiting);
      EXPECT_FALSE(waiting->has_value());
      if (n < kWireHeaderBytes) continue;
      std::string cut = bytes.substr(0, n);
      const uint32_t length = static_cast<uint32_t>(n - kWireHeaderBytes);
      std::memcpy(cut.data() + 8, &length, sizeof(length));
      EXPECT_FALSE(decode(cut)) << "cut to " << n << " of " << bytes.size();
    }
  }
}

TEST(Wire, MutationsNeverCrashAndBadHeadersAreRefused) {
  Rng rng(4);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = encode_wire(some_message(rng));
    for (int k = 1 + pick(rng, 3); k > 0; --k) bytes[rng() % bytes.size()] = static_cast<char>(rng());
    const auto back = decode(bytes);
    uint32_t magic;
    std::memcpy(&magic, bytes.data(), sizeof(magic));
    if (magic != kWireMagic) {
      EXPECT_FALSE(back);
    }
  }
}

TEST(Wire, HugeCountsAllocateNothing) {
  std::string bytes = encode_wire(TokensMessage{});
  const uint32_t count = std::numeric_limits<uint32_t>::max();
  std::memcpy(bytes.data() + kWireHeaderBytes, &count, sizeof(count));
  EXPECT_FALSE(decode(bytes));
  std::string huge = bytes;
  std::memcpy(huge.data() + 8, &count, sizeof(count));
  EXPECT_FALSE(decode(huge));
}

TEST(Wire, NumbersOutsideTheirRangesAreRefused) {
  engine::Request request;
  request.prompt = {1};
  request.sampling.temperature = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(decode(encode_wire(SubmitMessage{request})));
  request.sampling.temperature = 1;
  request.sampling.max_tokens = 0;
  EXPECT_FALSE(decode(encode_wire(SubmitMessage{request})));
  request.sampling.max_tokens = 1;
  request.prompt.clear();
  EXPECT_FALSE(decode(encode_wire(SubmitMessage{request})));
  EXPECT_FALSE(decode(encode_wire(ProgressMessage{"x", 1.5})));
}

}  // namespace
}  // namespace assay::serve
