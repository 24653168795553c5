#pragma once

// Tenure: what is known of one lock while it is held. It is shared by the plan that renews the lock
// and the guard's operations.
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
  // What a read found: the version and the connection that returned it. No version: the key was
  // absent.
  struct Noted {
    std::string version;
    std::uint64_t connection = 0;
    bool absent() const noexcept { return version.empty(); }
  };
  // The most keys that are noted; a read that needs another note is refused.
  static constexpr std::size_t max_noted = 65'536;

  std::string name;  // the lock's key
  bool held = false;
  Deadline until{0};  // the end of the belief, by our own clock
  std::string token;  // version of the SET that acquired the lock, or of a renewal after a doubt
  std::uint64_t connection = 0;  // carried the acquiring SET; the tenure ends with it
  // A fenced write ended without an answer. It may still be executed, so nothing more is written
  // with this token. A renewal brings the next one.
  bool in_doubt = false;
  unsigned changes = 0;  // grows when held, token or in_doubt change
  std::string loss;      // why the lock is not held any more
  // Keys that the next write must find as they were read: with a fenced lock, the keys that were
  // absent, because they cannot be claimed; with an advisory lock, all keys that were read.
  std::map<std::string, Noted, std::less<>> noted;

  bool usable(Now now) const { return held && now.mono < until; }
  // Returns false if there are too many notes already.
  bool note(const std::string& key, std::string_view version, std::uint64_t from) {
    const bool full = noted.size() >= max_noted && !noted.contains(key);
    if (!full) noted.insert_or_assign(key, Noted{std::string(version), from});
    return !full;
  }
};

}  // namespace sheaf::client::lock
