#pragma once

// Claim: what a caller that found its key absent comes to: a value, or the right to compute one.
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

// What a leader has made, for all who wait.
using SharedValue = std::shared_ptr<const Value>;

// The right to compute: what was won, and is given back or used by SettlePlan.
struct Right {
  bool by_lease = false;
  std::string version;   // of the lease, or of the guard
  std::string holder{};  // the guard's text: nobody else's
};

// One of the three.
struct Claim {
  std::optional<Value> value{};
  SharedValue shared{};  // another caller of this client has made it
  std::optional<Right> right{};
};

// Of one without a right. What is shared is copied, so this is not for the baton.
inline Value value_of(Claim claim) {
  return claim.shared != nullptr ? *claim.shared : std::move(*claim.value);
}

}  // namespace sheaf::client::compute
