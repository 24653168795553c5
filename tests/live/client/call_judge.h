#pragma once

// CallJudge: decides which calls of a load may fail while a test changes the cluster, and records
// those that did.
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

// A finished call.
struct LoadCall {
  using Clock = std::chrono::steady_clock;

  std::string_view name;  // the member of Client
  std::string_view key;
  std::uint16_t slot = 0;
  bool writes = false;
  Clock::time_point begun;
  Clock::time_point ended;
};

class CallJudge {
 public:
  using Clock = LoadCall::Clock;

  // How long calls for a slot may still fail after the cluster has said which server serves it.
  static constexpr std::chrono::seconds settling{2};

  explicit CallJudge(const ClusterObserver& observer) : observer_(observer) {}

  // From now on calls for these slots may fail. A refusal is allowed only if no time was left to
  // wait longer, or if a later operation on the key was carried out (docs/design/0049). With
  // `held_writes` the only allowed failure is a write that the server received and did not answer
  // in time. Returns the number of this permission.
  std::size_t allow(const SlotSet& slots, bool held_writes = false);
  // The cluster has said which server serves the slots. Calls that begin more than 2 s later may
  // not fail. A call that was not sent or not carried out must also have ended by then.
  void end(std::size_t permission, Clock::time_point said);
  // How much a busy machine may add to the 2 s. Until a client serves a slot again, four things
  // happen in turn: a probe or a redirect, the map, a connection, the request. Each may wait for
  // the longest measured delay. The sum is limited to another 2 s.
  std::chrono::nanoseconds allowance() const;
  // How much a call may outlast its deadline: the longest delay of the machine, and a second for
  // what the observer did not see.
  std::chrono::nanoseconds lateness() const;

  // `error` is null if the call succeeded.
  void ended(const LoadCall& call, const Error* error);
  void found(std::string text);
  // The first violations, and how many there are; empty if there were none.
  std::string findings() const;
  std::uint64_t violations() const;
  // The number of failed calls of each kind, one line for each kind.
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

  bool allowed(const LoadCall& call, const Error& error) const;
  // True if the call waited when the cluster said which server serves its slot, and for more than
  // the 2 s after that.
  bool waited_too_long(const LoadCall& call) const;
  void add(std::string finding);

  const ClusterObserver& observer_;
  mutable std::mutex mutex_;
  std::vector<Permission> permissions_;
  std::uint64_t calls_ = 0;
  std::chrono::nanoseconds longest_call_{0};
  std::map<std::string, std::uint64_t> failures_;
  std::uint64_t violations_ = 0;
  std::vector<std::string> findings_;  // the first few
};

}  // namespace sheaf::test
