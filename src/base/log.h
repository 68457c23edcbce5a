#pragma once
// Log lines go to stderr, one line each: "2026-11-29T10:00:00Z level message". Prompts are never logged.
#include <fmt/format.h>

#include <string_view>

namespace assay {

enum class LogLevel { debug, info, warning, error };

// Lines below `level` are dropped. Set once at start-up.
void set_log_level(LogLevel level);
// Name shown in each line, so that supervisor, door and engine can be told apart. Set once at start-up.
void set_log_name(std::string_view name);
void log_line(LogLevel level, std::string_view message);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace assay
