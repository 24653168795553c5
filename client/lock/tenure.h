#pragma once

// What is known of one lock while it is held: shared by the plan that keeps it and the fenced
// operations that use it.
//
// Thread rule: under the baton.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace sheaf::client::lock {

struct Tenure {
  // What a read found: its version and the connection that told it; no version: absent.
  struct Noted {
    std::string version;
    std::uint64_t connection = 0;
    bool absent() const noexcept { return version.empty(); }
  };
  // More keys than this are not noted: a further read that must be is refused.
  static constexpr std::size_t max_noted = 65'536;

  std::string name;  // the lock's key
  bool held = false;
  Deadline until{0};             // held at most so long, by our own clock
  std::string token;             // version of the SET that began the tenure
  std::uint64_t connection = 0;  // which carried that SET; the tenure ends with it
  // A fenced write ended without an answer: it may still land, so nothing more is written with this
  // token. A renewal brings the next one.
  bool in_doubt = false;
  unsigned changes = 0;  // grows when held, token or in_doubt change
  std::string loss;      // not held any more: why
  // Keys that the next write must find as they were read. Under a fenced lock those that were
  // absent: they cannot be claimed. Under an advisory one all that were read.
  std::map<std::string, Noted, std::less<>> noted;

  bool usable(Now now) const { return held && now.mono < until; }
  // False: there are too many already.
  bool note(const std::string& key, std::string_view version, std::uint64_t from) {
    const bool full = noted.size() >= max_noted && !noted.contains(key);
    if (!full) noted.insert_or_assign(key, Noted{std::string(version), from});
    return !full;
  }
};

}  // namespace sheaf::client::lock
