// A request's body through parser and validation. The first byte picks the route.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "serve/api_request.h"

using namespace assay::serve;

namespace {

template <class T>
void expect_reason(const Checked<T>& result) {
  if (result) return;
  CHECK(!result.error().message.empty());
  CHECK(result.error().status == 400);
  CHECK(!error_json(result.error()).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  RequestRules rules;
  rules.vocab_size = 4096;
  switch (data[0] % 4) {
    case 0: {
      const Checked<ChatRequest> chat = parse_chat_request(body, rules);
      expect_reason(chat);
      if (chat) {
        CHECK((*chat).messages.size() > 0);
        CHECK((*chat).common.n >= 1 && (*chat).common.n <= kMaxChoices);
        CHECK((*chat).common.sampling.temperature >= 0 && (*chat).common.sampling.temperature <= 2);
      }
      break;
    }
    case 1: {
      const Checked<CompletionRequest> completion = parse_completion_request(body, rules);
      expect_reason(completion);
      if (completion) CHECK(!(*completion).prompts.empty());
      break;
    }
    case 2:
      expect_reason(parse_tokenize_request(body, rules));
      break;
    default:
      expect_reason(parse_detokenize_request(body, rules));
      break;
  }
  return 0;
}
