#pragma once

// CallJudge: what calls of a load may fail, while a test changes the cluster, and which of them
// did.
//
// Thread rule: any thread.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/result.h>

#include "tests/live/client/cluster_observer.h"

namespace sheaf::test {

// A call that has ended.
struct Call {
  using Clock = std::chrono::steady_clock;

  std::string_view name;  // of the member of Client
  std::string_view key;
  std::uint16_t slot = 0;
  bool writes = false;
  Clock::time_point begun;
  Clock::time_point ended;
};

class CallJudge {
 public:
  using Clock = Call::Clock;

  // How long slots may still fail once the cluster has said who serves them.
  static constexpr std::chrono::seconds settling{2};

  explicit CallJudge(const ClusterObserver& observer) : observer_(observer) {}

  // From now on calls for these slots may fail, but not by a refusal other than that there was no
  // time to wait longer; with `held_writes` only as writes that the server has got and not answered
  // in time. Returns the number of this permission.
  std::size_t allow(const SlotSet& slots, bool held_writes = false);
  // The cluster has said who serves them. Calls that begin more than 2 s later may not fail; nor
  // may one end so much later that was not sent or not carried out.
  void end(std::size_t permission, Clock::time_point said);
  // What a busy machine may add to the 2 s. Until a client serves a slot again, four things follow
  // on each other, and each may wait as long as anything does: a probe or an answer that redirects,
  // the map, a connection, the request. But never more than the 2 s once more.
  std::chrono::nanoseconds allowance() const;
  // By how much a call may outlast its deadline: how long the machine has kept anybody waiting, and
  // a second for what the observer did not see.
  std::chrono::nanoseconds lateness() const;

  // `error`: none if the call succeeded.
  void ended(const Call& call, const Error* error);
  void found(std::string text);
  // What may not be; empty if nothing was.
  std::string findings() const;
  // How many calls have failed in which way, one line for each.
  std::string failures() const;
  std::uint64_t calls() const;
  std::chrono::nanoseconds longest_call() const;

 private:
  struct Permission {
    SlotSet slots;
    bool held_writes = false;
    Clock::time_point begun;
    std::optional<Clock::time_point> said{};
  };

  bool allowed(const Call& call, const Error& error) const;
  // It waited when the cluster said who serves its slot, and longer than the 2 s.
  bool waited_too_long(const Call& call) const;
  void add(std::string finding);

  const ClusterObserver& observer_;
  mutable std::mutex mutex_;
  std::vector<Permission> permissions_;
  std::uint64_t calls_ = 0;
  std::chrono::nanoseconds longest_call_{0};
  std::map<std::string, std::uint64_t> failures_;
  std::vector<std::string> findings_;  // the first ones
};

}  // namespace sheaf::test
