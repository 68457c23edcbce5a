#include "text/jinja/failure.h"

#include <fmt/format.h>

#include <utility>

namespace assay::text::jinja {
namespace {

thread_local Budget* current = nullptr;

}  // namespace

void fail(FailureKind kind, std::string message) {
  throw Failure{kind, std::move(message)};
}

BudgetScope::BudgetScope(Budget* budget) : previous_(std::exchange(current, budget)) {}
BudgetScope::~BudgetScope() {
  current = previous_;
}

void spend(int64_t operations) {
  if (current == nullptr) return;
  current->operations -= operations;
  if (current->operations < 0) fail(FailureKind::budget, "the template takes too many operations");
}

void limit_bytes(size_t bytes) {
  if (current != nullptr && bytes > current->string_bytes)
    fail(FailureKind::budget,
         fmt::format("the template makes a text of {} bytes, at most {}", bytes, current->string_bytes));
}

void spend_bytes(size_t bytes) {
  limit_bytes(bytes);
  spend(static_cast<int64_t>(bytes / 512));
}

void spend_values(size_t count) {
  spend(static_cast<int64_t>(count / 16));
}

}  // namespace assay::text::jinja
