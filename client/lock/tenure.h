#pragma once

// Tenure: what is known of one lock while it is held. The plan that renews the lock and the guard's
// operations share it.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: under the baton.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace sheaf::client::lock {

struct Tenure {
  // What a read found: the version and the connection that returned it; no version: absent.
  struct Noted {
    std::string version;
    std::uint64_t connection = 0;
    bool absent() const noexcept { return version.empty(); }
  };
  // So many keys are noted at most; a read that would need another note is refused.
  static constexpr std::size_t max_noted = 65'536;

  std::string name;  // the lock's key
  bool held = false;
  Deadline until{0};             // the end of the belief, by our own clock
  std::string token;             // version of the SET that began the tenure
  std::uint64_t connection = 0;  // that carried this SET; the tenure ends with it
  // A fenced write ended without an answer: it may still be executed, so nothing more is written
  // with this token. A renewal brings the next one.
  bool in_doubt = false;
  unsigned changes = 0;  // grows when held, token or in_doubt change
  std::string loss;      // why it is not held any more
  // Keys that the next write must find as they were read: under a fenced lock those that were
  // absent, because they cannot be claimed; under an advisory lock all that were read.
  std::map<std::string, Noted, std::less<>> noted;

  bool usable(Now now) const { return held && now.mono < until; }
  // False: there are too many notes already.
  bool note(const std::string& key, std::string_view version, std::uint64_t from) {
    const bool full = noted.size() >= max_noted && !noted.contains(key);
    if (!full) noted.insert_or_assign(key, Noted{std::string(version), from});
    return !full;
  }
};

}  // namespace sheaf::client::lock
