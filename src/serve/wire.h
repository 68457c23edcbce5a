#pragma once
// Wire: the messages between door and engine, and their bytes. Fixed layout, little-endian, every length
// checked before anything is allocated. A message that does not decode is a protocol error: the reader closes
// its peer.
//
//   frame   = magic u32 | type u16 | zero u16 | length u32 | payload[length]
//   string  = length u32 | bytes            list<T> = count u32 | T...
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/load.h"
#include "engine/request.h"

namespace assay::serve {

inline constexpr uint32_t kWireMagic = 0x59415341;  // "ASAY"
inline constexpr size_t kWireHeaderBytes = 12;
inline constexpr size_t kWireMaxPayload = 32u << 20;  // two lists of kWireMaxIds ids and their parameters fit
inline constexpr size_t kWireMaxIds = 2u << 20;       // prompt or emitted ids of one request
inline constexpr size_t kWireMaxEvents = 65536;       // token events of one step
inline constexpr size_t kWireMaxText = 64u << 10;

// Door to engine.
struct HelloMessage {
  int32_t tokenizer_size = 0;  // ids from here on are padding rows of the head
  bool operator==(const HelloMessage&) const = default;
};
struct SubmitMessage {
  engine::Request request;
  bool operator==(const SubmitMessage&) const = default;
};
struct CancelMessage {
  engine::RequestId id = 0;
  bool operator==(const CancelMessage&) const = default;
};

// Engine to door.
struct TokensMessage {
  std::vector<engine::TokenEvent> events;
  bool operator==(const TokensMessage&) const = default;
};
struct StatsMessage {
  engine::EngineStats stats;
  bool operator==(const StatsMessage&) const = default;
};
struct ProgressMessage {
  std::string phase;
  double fraction = 0;
  bool operator==(const ProgressMessage&) const = default;
};
struct LoadedMessage {
  std::string architecture;
  int32_t vocab_size = 0;
  int32_t context_length = 0;
  int64_t weight_bytes = 0;
  bool operator==(const LoadedMessage&) const = default;
};
struct FatalMessage {
  std::string reason;
  bool operator==(const FatalMessage&) const = default;
};

using WireMessage = std::variant<HelloMessage, SubmitMessage, CancelMessage, TokensMessage, StatsMessage,
                                 ProgressMessage, LoadedMessage, FatalMessage>;

// The whole frame. Values beyond the limits above are a broken invariant of the sender.
std::string encode_wire(const WireMessage& message);

struct WireHeader {
  uint16_t type = 0;
  uint32_t length = 0;
};
// `bytes` holds at least kWireHeaderBytes.
Result<WireHeader> decode_wire_header(std::string_view bytes);
Result<WireMessage> decode_wire_payload(const WireHeader& header, std::string_view payload);

// Cuts a byte stream into messages. After an error the stream is dead.
class WireReader {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // The next whole message; nullopt when more bytes are needed.
  Result<std::optional<WireMessage>> next();

 private:
  std::string buffer_;
  size_t start_ = 0;
};

}  // namespace assay::serve
