// Pure: no socket, clock, entropy, thread or callback.

#include <cstdio>

#include <sheaf/log.h>

#include "base/text.h"

namespace sheaf {
inline namespace v0 {
namespace {

constexpr std::size_t longest = 2'000;

// Quotes a text that a reader could take for several words.
std::string value_of(std::string_view text) {
  std::string shown = printable(text, longest);
  const bool plain = !shown.empty() && shown.find_first_of(" =\"\\") == shown.npos;
  if (plain) return shown;
  std::string out = "\"";
  for (const char c : shown) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

void add(std::string& line, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  if (!line.empty()) line += ' ';
  line.append(name).append("=").append(value_of(text));
}

}  // namespace

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

std::string LogRecord::line() const {
  std::string out;
  add(out, "time",
      format_utc(std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch())));
  add(out, "level", to_string(level));
  add(out, "node", node);
  add(out, "operation", operation);
  add(out, "key", key);
  if (outcome) add(out, "outcome", to_string(*outcome));
  if (elapsed > elapsed.zero()) {
    char number[40];
    std::snprintf(number, sizeof number, "%.3f",
                  std::chrono::duration<double, std::milli>(elapsed).count());
    add(out, "elapsed_ms", number);
  }
  add(out, "text", text);
  return out;
}

}  // namespace v0
}  // namespace sheaf
