#include "text/normalizer.h"

#include "text/added_tokens.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

template <class Each>
std::string map_code_points(std::string_view text, Each each) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_at(text, pos);
    each(&out, c.value);
    pos += c.bytes;
  }
  return out;
}

std::string replace(std::string_view text, const ClassRegex& pattern, std::string_view content) {
  std::vector<Span> spans;
  pattern.split(text, &spans);
  std::string out;
  for (const Span& span : spans)
    out.append(span.match ? content : text.substr(span.begin, span.end - span.begin));
  return out;
}

std::string apply_step(const NormalizerStep& step, std::string_view text) {
  switch (step.kind) {
    case NormalizerStep::Kind::form:
      return normalize(text, step.form);
    case NormalizerStep::Kind::lowercase:
      return map_code_points(text, [](std::string* out, char32_t c) { append_lower(out, c); });
    case NormalizerStep::Kind::strip_accents:
      return map_code_points(text, [](std::string* out, char32_t c) {
        if (!is_mark_of_unicode9(c)) append_utf8(out, c);
      });
    case NormalizerStep::Kind::strip: {
      if (step.left) text.remove_prefix(space_after(text, 0));
      if (step.right) text = text.substr(0, space_before(text, text.size()));
      return std::string(text);
    }
    case NormalizerStep::Kind::prepend:
      return text.empty() ? std::string() : step.content + std::string(text);
    case NormalizerStep::Kind::replace:
      return replace(text, step.pattern[0], step.content);
  }
  return {};
}

}  // namespace

bool Normalizer::leaves_alone(std::string_view text) const {
  for (const NormalizerStep& step : steps_)
    if (step.kind != NormalizerStep::Kind::form || step.form != NormalForm::nfc || !is_surely_nfc(text))
      return false;
  return true;
}

std::string Normalizer::apply(std::string_view text) const {
  std::string out(text);
  for (const NormalizerStep& step : steps_) out = apply_step(step, out);
  return out;
}

}  // namespace assay::text
