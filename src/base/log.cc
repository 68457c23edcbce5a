#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <ctime>
#include <string>

namespace assay {
namespace {

std::atomic<LogLevel> g_level{LogLevel::info};
std::string g_name = "assay";

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "?";
}

}  // namespace

void set_log_level(LogLevel level) {
  g_level = level;
}
void set_log_name(std::string_view name) {
  g_name = name;
}

void log_line(LogLevel level, std::string_view message) {
  if (level < g_level.load(std::memory_order_relaxed)) return;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  std::string line = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z {} {} {}\n", utc.tm_year + 1900,
                                 utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                                 now.tv_nsec / 1000000, g_name, level_name(level), message);
  // One write per line, so that lines of the three processes do not interleave.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace assay
