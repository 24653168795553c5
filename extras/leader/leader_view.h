#pragma once

// LeaderView: turns what the lock's key holds into changes of leader.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <string>
#include <string_view>

#include <sheaf/leader.h>

namespace sheaf::leader {

// Whose lock this is. A lock of this library is its holder's text, ":" and 32 hex digits; another
// program's is taken as it is.
std::string_view holder_of(std::string_view value) noexcept;

// What a read of the lock's key says.
Result<Leader> leader_of(const Result<GetResult>& got);

class LeaderView {
 public:
  // The key holds this value, or nothing. Returns the leader if that is another term than the one
  // before.
  std::optional<Leader> see(const std::optional<std::string>& value);

 private:
  bool known_ = false;
  std::optional<std::string> seen_;
};

}  // namespace sheaf::leader
