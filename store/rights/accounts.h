#pragma once

// The accounts that quotas are counted for. It gives each a number for the engine, and limits its
// rate of requests (GCRA, a token bucket stored as one time). An account is forgotten when nothing
// depends on its number any more.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "store/engine/engine.h"
#include "store/engine/key_hash.h"
#include "store/engine/usage.h"

namespace sheaf::store::rights {

// At most `rate` requests per second, in a burst or one after another.
class RateLimiter {
 public:
  bool take(std::uint64_t rate, Deadline now) noexcept;
  // True if its state is as if nothing had ever been taken.
  bool rested(Deadline now) const noexcept { return next_ <= now; }

 private:
  Deadline next_{0};  // when the next request would be due if they came evenly
};

class Accounts final : public AccountNames {
 public:
  explicit Accounts(std::uint64_t seed) : numbers_(initial_buckets, KeyHash{seed}) {}

  // Call join() for each client that connects, and leave() when it goes. An empty name is `nobody`.
  Account join(std::string_view name);
  void leave(Account account) noexcept;
  bool take_request(Account account, const Quota& quota, Deadline now) noexcept;

  std::string_view name_of(Account account) const override;
  Account number_of(std::string_view name) override;

  // Checks the next hundred accounts in turn, and forgets those that have no connected client,
  // nothing in the engine, and a rested rate.
  void forget_idle(const Engine& engine, Deadline now);

  std::size_t size() const noexcept { return numbers_.size(); }

 private:
  struct Known {
    const std::string* name = nullptr;  // null: free
    std::size_t clients = 0;
    RateLimiter rate;
  };

  void forget(Known& known) noexcept;

  KeyMap<Account> numbers_;
  std::vector<Known> accounts_{1};  // by number; the first is `nobody`
  std::vector<Account> free_;       // has capacity for all of them
  std::size_t looked_ = 0;
};

}  // namespace sheaf::store::rights
