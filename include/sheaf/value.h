#pragma once

/// @file
/// Values, versions, fencing tokens and times to live.
///
/// Thread rule: plain values.

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace sheaf {
inline namespace v0 {

/// The version that the endpoint gave a value, in the endpoint's own text.
///
/// - State store: a hybrid logical clock, `wall:counter:node`. To compare two, ask the store; do
///   not compare them as text.
/// - memcached: a number that the server assigns.
/// - Redis protocol: a hash of the value. A value that was replaced and then restored has its old
///   version again.
///
/// Empty when the endpoint sent none.
struct Version {
  std::string text;  ///< Exactly as received.

  /// True if there is no version.
  bool empty() const noexcept { return text.empty(); }
  /// True if the texts are equal.
  friend bool operator==(const Version&, const Version&) = default;
};

/// A token that the store checks: it refuses a write whose token is older than one the key has
/// seen. Valid only at the node that issued it. Not a secret and no proof of identity.
struct FencingToken {
  std::string text;  ///< Sent as it is; for the state store the version of the lock's first SET.

  /// True if there is no token.
  bool empty() const noexcept { return text.empty(); }
  /// True if the texts are equal.
  friend bool operator==(const FencingToken&, const FencingToken&) = default;
};

/// A value as the endpoint returned it.
struct Value {
  std::string data;         ///< The bytes, unchanged; may contain anything, may be empty.
  Version version;          ///< Empty when the endpoint gave none.
  std::uint32_t flags = 0;  ///< memcached's 32 client flags; 0 elsewhere.
  /// How long the value still lives, by its server's clock, in whole seconds. Set only if
  /// GetOptions::ttl_left asked for it; empty for a value that never expires.
  std::optional<std::chrono::seconds> ttl_left{};
};

/// A time to live. Takes any std::chrono duration; parts of a millisecond are rounded up.
/// Allowed: 1 ms to 922,337,203,685,477 ms (about 29,000 years); anything else makes the call
/// fail with Reason::bad_argument before anything is sent.
class Ttl {
 public:
  /// The longest time to live.
  static constexpr std::chrono::milliseconds max{922'337'203'685'477};

  /// Takes any duration. One that is not allowed is kept, so that the call can refuse it.
  template <class Rep, class Period>
  constexpr Ttl(std::chrono::duration<Rep, Period> time)  // NOLINT(google-explicit-constructor)
      : milliseconds_(convert(time)) {}

  /// Never expires, whatever the cluster's `default_ttl`: for writes and touches, not for leases.
  static constexpr Ttl never() noexcept {
    Ttl ttl(max);
    ttl.milliseconds_ = std::chrono::milliseconds::min();
    return ttl;
  }

  /// Whole milliseconds; values outside 1 .. max are kept so that the call can refuse them.
  constexpr std::chrono::milliseconds milliseconds() const noexcept { return milliseconds_; }
  /// True if the time is within the range above, which holds for every endpoint.
  constexpr bool valid() const noexcept {
    return milliseconds_.count() >= 1 && milliseconds_ <= max;
  }

 private:
  template <class Rep, class Period>
  static constexpr std::chrono::milliseconds convert(std::chrono::duration<Rep, Period> time) {
    using Wide = std::chrono::duration<long double, std::milli>;
    const long double wanted = std::chrono::duration_cast<Wide>(time).count();
    constexpr long double top = 1.0e15L;
    if (!(wanted < top)) return std::chrono::milliseconds(std::numeric_limits<std::int64_t>::max());
    if (!(wanted > -top)) return std::chrono::milliseconds(-1);
    return std::chrono::ceil<std::chrono::milliseconds>(Wide(wanted));
  }
  std::chrono::milliseconds milliseconds_;
};

}  // namespace v0
}  // namespace sheaf
