#pragma once
// Template: a parsed chat template, rendered as Hugging Face's sandboxed Jinja environment does (trim_blocks,
// lstrip_blocks, loop controls, {% generation %}, no autoescape). What is outside of it is refused at parse
// time.
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "text/jinja/failure.h"
#include "text/jinja/value.h"

namespace assay::text::jinja {

struct RenderOptions {
  Budget budget;
  std::optional<std::tm> now;  // what strftime_now tells; the clock if absent
};

using Rendered = std::variant<String, Failure>;

// Immutable after parse; render may run in several threads at once.
class Template {
 public:
  static Result<Template> parse(std::string_view source);
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  // `context`: a dict with the variables.
  Rendered render(const Value& context, const RenderOptions& options = {}) const;

 private:
  struct Impl;
  explicit Template(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace assay::text::jinja
