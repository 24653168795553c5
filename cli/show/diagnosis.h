#pragma once

// What `sheaf doctor` says about one server: its steps from the name to the latency, in the order
// in which each needs those before it. The first step that fails ends the list: what comes after it
// cannot be known.
//
// Thread rule: pure functions.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/stats.h>

namespace sheaf::cli {

// What was found out about a server.
struct Examined {
  bool engine = false;  // in this process, without an address
  bool tls = false;     // the URI wants it
  bool clock = false;   // servers of this kind say their time: state stores
  std::string host;     // a name, an address, or the path of a Unix socket
  std::uint16_t port = 0;
  std::vector<std::string> addresses{};  // of the name
  std::string name_fault{};              // why there are none
  std::vector<std::string> refused{};    // "ADDRESS: WHY", those that do not accept
  NodeReport report{};
  std::string key{};              // that was written, read and removed there; empty: none
  std::optional<Error> rights{};  // why that failed
  std::vector<std::chrono::nanoseconds> trips{};
};

struct Finding {
  enum class Verdict : std::uint8_t { good, bad, none };  // none: this kind has no such step
  std::string_view step;
  Verdict verdict = Verdict::good;
  std::string text;  // what was found; if bad: also what to do
};

std::vector<Finding> diagnose(const Examined& server);

// The server, and below it a line for each finding, wrapped at `width`.
std::string diagnosis_text(std::string_view node, const std::vector<Finding>& findings,
                           std::size_t width, bool colours);

}  // namespace sheaf::cli
