#pragma once

// Claim: the result for a caller whose key was absent: a value, or the right to compute one.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: plain values.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <sheaf/value.h>

namespace sheaf::client::compute {

// The value a leader has made, for all that wait.
using SharedValue = std::shared_ptr<const Value>;

// The right to compute. It is won, and then used or given back by SettlePlan.
struct Right {
  bool by_lease = false;
  std::string version;   // of the lease, or of the guard
  std::string holder{};  // the guard's text, unique to this holder
};

// Exactly one of the three is set.
struct Claim {
  std::optional<Value> value{};
  SharedValue shared{};  // another caller of this client has made it
  std::optional<Right> right{};
};

// For a claim without a right. Copies a shared value, so do not call it under the baton.
inline Value value_of(Claim claim) {
  return claim.shared != nullptr ? *claim.shared : std::move(*claim.value);
}

}  // namespace sheaf::client::compute
