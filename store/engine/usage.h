#pragma once

// For whom keys and watches count, where the host sets quotas.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <limits>
#include <string_view>

namespace sheaf::store {

// Chosen by the host; small numbers, because tables are indexed by them. A key counts for whoever
// wrote it last. Nothing counts for nobody.
using Account = std::uint32_t;
inline constexpr Account nobody = 0;

// Accounts as a file knows them: their numbers are given anew at each start.
class AccountNames {
 public:
  virtual std::string_view name_of(Account account) const = 0;  // of nobody: empty
  // Gives one to a name that has none.
  virtual Account number_of(std::string_view name) = 0;

 protected:
  ~AccountNames() = default;
};

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// What one account may have.
struct Quota {
  std::uint64_t keys = unlimited;
  std::uint64_t bytes = unlimited;  // of keys and values
  std::uint64_t watches = unlimited;
  std::uint64_t requests = unlimited;  // a second; counted by the host
  friend bool operator==(const Quota&, const Quota&) = default;
};

// What one account has.
struct Usage {
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  std::uint64_t watches = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};

}  // namespace sheaf::store
