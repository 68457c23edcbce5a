// Input: a template. It is refused, or it renders within its budget; what it prints of the request stays
// marked.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/jinja/template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::text::jinja;
  static const Value context = *value_from_json(
      R"({"messages": [{"role": "user", "content": "a <|x|> b"}, {"role": "assistant", "content": null}],)"
      R"( "tools": [{"function": {"name": "f", "parameters": {"q": [1, 2.5, true]}}}], "x": "y", "n": 3})");
  const auto parsed = Template::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!parsed) return 0;
  RenderOptions options;
  options.budget.operations = 50'000;
  options.budget.string_bytes = 1 << 20;
  const Rendered rendered = parsed->render(context, options);
  if (const auto* text = std::get_if<String>(&rendered)) {
    size_t end = 0;
    for (const ByteRange& range : text->user_ranges()) {
      CHECK(range.begin >= end && range.begin < range.end && range.end <= text->size());
      end = range.end;
    }
  }
  return 0;
}
