#pragma once

// ClusterObserver: a thread that asks all servers of a live cluster every 10 ms which server serves
// which slot, and so knows since when they agree. It also measures how busy the machine is, by how
// long its own turns and the servers' answers took.
//
// Thread rule: any thread, except that hide() and show() frame what the test does to a server.

#include <atomic>
#include <bitset>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/support/resp_cluster.h"

namespace sheaf::test {

using SlotSet = std::bitset<protocol::resp::slot_count>;

class ClusterObserver {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds interval{10};

  explicit ClusterObserver(const RespCluster& cluster);

  // From now on the server is not asked, and nothing counts as agreed until the next turn.
  void hide(std::size_t server);
  // The server answers again, at its present port.
  void show(std::size_t server);

  // Waits until all servers that are not hidden agree that every slot is served by one of them, and
  // those in `slots` by `owner`. Returns since when they have said so without a break.
  Clock::time_point wait_until_agreed(const SlotSet& slots, std::size_t owner);
  // Waits until the servers agree, from now on, and returns the slots of this one.
  SlotSet slots_of(std::size_t server);

  // The longest time by which a turn exceeded its interval: how long this process, or a server that
  // answers, kept others waiting. Hidden servers do not count.
  std::chrono::nanoseconds longest_delay_ever() const { return longest_delay_ever_.load(); }
  // The same since the last call of begin_measuring().
  std::chrono::nanoseconds longest_delay() const { return longest_delay_.load(); }
  void begin_measuring() { longest_delay_ = std::chrono::nanoseconds(0); }

 private:
  static constexpr std::uint16_t nobody = 0xffff;
  using Owners = std::vector<std::uint16_t>;  // by slot

  struct Observed {
    std::string id;
    std::uint16_t port = 0;
    bool hidden = false;
    std::unique_ptr<RespConnection> connection{};
  };

  // A state that lasted for a while.
  struct State {
    Clock::time_point since;  // when the last server had said so
    std::string disagreement;
    Owners owners;  // if there is no disagreement
  };

  void run(const std::stop_token& stop);
  void take_turn();
  // This server's report. Nothing if it is unusable; `disagreement` then says why.
  std::optional<Owners> ask(std::size_t server, std::string& disagreement);
  std::optional<Owners> owners_in(const protocol::resp::TopologyView& view,
                                  std::string& disagreement) const;
  void ask_anew(std::string why);
  void enter(std::string disagreement, Owners owners);
  void wait_for(std::string_view what, const std::function<bool()>& holds);

  const RespCluster& cluster_;
  const bool has_state_;  // the software itself says if it serves
  mutable std::mutex mutex_;
  std::condition_variable_any turn_;
  std::vector<Observed> servers_;
  std::vector<State> states_;  // never empty; the last one is current
  std::atomic<std::chrono::nanoseconds> longest_delay_{};
  std::atomic<std::chrono::nanoseconds> longest_delay_ever_{};
  std::jthread thread_;  // last, because it uses the others
};

}  // namespace sheaf::test
