#pragma once

/// @file
/// Log records: one for each abnormal or missing reply and each change of a node's health.
///
/// Thread rule: the sink is called on the client's dispatcher (or the user's executor), one record
/// at a time, never while the client holds a lock; it may call anything, the Client included.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/result.h>

namespace sheaf {
inline namespace v0 {

/// How much a record matters.
enum class LogLevel : std::uint8_t {
  info,     ///< A node came up, a connection was made.
  warning,  ///< An operation failed, or a certificate expires soon; service continues.
  error     ///< A reply was lost (`Outcome::unknown`), or a node went down.
};

/// One event. Keys appear as a hash (`#16 hex digits`) unless `log_keys` is on; values never.
struct LogRecord {
  std::chrono::system_clock::time_point time{};  ///< When it happened.
  LogLevel level = LogLevel::info;               ///< How much it matters.
  std::string node;                              ///< `host:port`, empty if none.
  std::string operation;                ///< "get", "set", "probe", "health", "certificate", ...
  std::string key;                      ///< Hash or escaped key, empty if none.
  std::optional<Outcome> outcome;       ///< How the operation ended, if it was one.
  std::string text;                     ///< What happened, one sentence.
  std::chrono::nanoseconds elapsed{0};  ///< How long the operation took.

  /// The record as one line of `name=value` pairs (logfmt), without a line end, for programs that
  /// read logs: `time=2026-01-31T09:05:00.007Z level=error node=b1:1883 operation=get key=#00…
  /// outcome=unknown elapsed_ms=12.3 text="connection lost"`. No empty fields; texts are escaped.
  SHEAF_API std::string line() const;
};

/// "info", "warning", "error".
SHEAF_API std::string_view to_string(LogLevel level) noexcept;

/// Receives log records, where callbacks run. What it throws goes to ClientOptions::on_exception.
using LogSink = std::function<void(const LogRecord&)>;

}  // namespace v0
}  // namespace sheaf
