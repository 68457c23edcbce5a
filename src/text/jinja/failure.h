#pragma once
// Failure: how evaluation inside the engine ends early. Thrown and caught inside text/jinja only;
// Template::render turns it into a value.
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::text::jinja {

enum class FailureKind {
  syntax,
  unsupported,
  raised,
  undefined,
  type,
  security,
  zero_division,
  overflow,
  unknown_name,
  budget
};

struct Failure {
  FailureKind kind = FailureKind::type;
  std::string message;
  int line = 0;  // of the template, 0 if not known
};

[[noreturn]] void fail(FailureKind kind, std::string message);
[[noreturn]] inline void type_error(std::string message) {
  fail(FailureKind::type, std::move(message));
}

// Budget: what one render may spend. One operation is about one node evaluated, 512 bytes copied or 16 values
// copied.
struct Budget {
  int64_t operations = 1'000'000;
  size_t string_bytes = 8u << 20;  // longest string, and longest output
};

// Makes `budget` the one that this thread spends from; without one, nothing is limited.
class BudgetScope {
 public:
  explicit BudgetScope(Budget* budget);
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

 private:
  Budget* previous_;
};

void spend(int64_t operations);
void limit_bytes(size_t bytes);   // fails if a string of this length is too long
void spend_bytes(size_t bytes);   // a string of this length is made
void spend_values(size_t count);  // a list of this length is made

}  // namespace assay::text::jinja
