#pragma once

// The accounts that keys and watches count for when the host sets quotas.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <limits>
#include <string_view>

namespace sheaf::store {

// Chosen by the host. The numbers are small, because tables are indexed by them. A key counts for
// the account that wrote it last. Nothing is counted for `nobody`.
using Account = std::uint32_t;
inline constexpr Account nobody = 0;

// The names of accounts, as a file stores them: their numbers are assigned again at each start.
class AccountNames {
 public:
  virtual std::string_view name_of(Account account) const = 0;  // empty for `nobody`
  // Assigns a number to a name that has none.
  virtual Account number_of(std::string_view name) = 0;

 protected:
  ~AccountNames() = default;
};

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// The limits of one account.
struct Quota {
  std::uint64_t keys = unlimited;
  std::uint64_t bytes = unlimited;  // keys and values
  std::uint64_t watches = unlimited;
  std::uint64_t requests = unlimited;  // per second; counted by the host
  friend bool operator==(const Quota&, const Quota&) = default;
};

// What one account uses.
struct Usage {
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  std::uint64_t watches = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};

}  // namespace sheaf::store
