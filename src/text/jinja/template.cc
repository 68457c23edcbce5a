#include "text/jinja/template.h"

#include <fmt/format.h>

#include "text/jinja/interpreter.h"
#include "text/jinja/parser.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

constexpr size_t kMaxSource = 1u << 20;  // bytes

}  // namespace

struct Template::Impl {
  Program program;
};

Template::Template(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Result<Template> Template::parse(std::string_view source) {
  if (source.size() > kMaxSource)
    return Error{fmt::format("chat template: {} bytes, at most {}", source.size(), kMaxSource)};
  if (!is_valid_utf8(source)) return Error{"chat template: not valid UTF-8"};
  try {
    auto impl = std::make_unique<Impl>();
    impl->program = parse_program(source);
    return Template(std::move(impl));
  } catch (const Failure& failure) {
    return Error{fmt::format("chat template, line {}: {}", failure.line, failure.message)};
  }
}

Rendered Template::render(const Value& context, const RenderOptions& options) const {
  Budget budget = options.budget;
  const BudgetScope scope(&budget);
  try {
    return Interpreter(impl_->program, context, options).run();
  } catch (Failure& failure) {
    if (failure.kind != FailureKind::raised)
      failure.message = fmt::format("chat template, line {}: {}", failure.line, failure.message);
    return std::move(failure);
  }
}

}  // namespace assay::text::jinja
