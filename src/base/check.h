#pragma once
// CHECK: a broken invariant is our bug, never the user's. It prints where and what, and ends the process.
#include <fmt/format.h>

namespace assay {

[[noreturn]] void check_failed(const char* file, int line, const char* expression, const std::string& detail);

}  // namespace assay

// CHECK(condition) or CHECK(condition, "format", values...).
#define CHECK(condition, ...)                                                   \
  do {                                                                          \
    if (!(condition)) [[unlikely]]                                              \
      ::assay::check_failed(__FILE__, __LINE__, #condition,                     \
                            std::string(__VA_OPT__(fmt::format(__VA_ARGS__)))); \
  } while (0)
