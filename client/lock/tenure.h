#pragma once

// What is known of one lock while it is held: shared by the plan that keeps it and the fenced
// operations that use it.
//
// Thread rule: under the baton.

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "base/clock.h"

namespace sheaf::client {

struct Tenure {
  // More keys than this are not noted as absent: a further read of an absent one is refused.
  static constexpr std::size_t max_absent = 65'536;

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
  // Keys that a fenced read found absent: they cannot be claimed, so the next write of one must
  // find it absent still.
  std::set<std::string, std::less<>> absent;

  bool usable(Now now) const { return held && now.mono < until; }
};

}  // namespace sheaf::client
