#pragma once

// NamedPair: two servers behind one name, which moves from one to the other. With Redis the other
// one is a replica, which becomes the primary then; with Garnet it is empty, because only clusters
// of Garnet replicate. Two loads reach the pair by the name: one with the default routing, one with
// a ring.
//
// Thread rule: one thread.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/live/hour/hour_load.h"
#include "tests/support/resp_process.h"
#include "tests/support/resp_software.h"
#include "tests/support/wire.h"

namespace sheaf::test {

class NamedPair {
 public:
  using Clock = LossTime::Clock;

  // `machine` measures how busy the machine is.
  NamedPair(RespSoftware software, const ClusterObserver& machine, HourRecord& record,
            std::uint64_t seed);

  // ---- events
  // The primary becomes a replica that has lost its primary: it refuses writes and serves what it
  // has. No write is lost. Redis only.
  void demote_and_move();
  // The primary is killed. It comes back as the other one.
  void kill_and_move();

  // Ends the loads, and adds what they found to the record.
  void finish();

 private:
  struct Event {
    std::string name;
    std::size_t permission;
    std::optional<std::size_t> loss{};
  };

  std::size_t other() const { return 1 - primary_; }
  std::uint16_t port() const { return servers_[0]->port(); }
  bool replicates() const { return software_ != RespSoftware::garnet; }
  // The answer to a command of several words: one line, or the text that it announces.
  std::string ask(std::size_t index, const std::string& command);
  void expect_ok(std::size_t index, const std::string& command);
  void start(std::size_t index);
  void replicate(std::size_t index, std::uint16_t from, const std::string& address);
  // The other one may be the primary now, and the name leads there.
  void promote_other();
  // The old primary becomes the replica.
  void follow(std::size_t old);
  void warm_up(std::size_t index);
  void wait_until_online();
  void wait_until_replicated();
  Event begin(std::string name, bool loses);
  void name_leads_to(std::size_t index);
  // The other one is the primary now. Waits until both loads are served by it.
  void end(const Event& event);
  // True if the load's client writes to the primary and reads from it.
  bool is_back(HourLoad& load) const;
  // What the load's client reads, if it can.
  static std::optional<std::string> marker_of(HourLoad& load);
  // Waits until it is back; nothing if it takes too long.
  std::optional<Clock::time_point> time_of_return(HourLoad& load) const;

  const RespSoftware software_;
  HourRecord& record_;
  std::array<std::unique_ptr<RespProcess>, 2> servers_;
  const ReservedPort dead_;  // nothing listens there
  std::array<std::unique_ptr<Wire>, 2> wires_;
  std::size_t primary_ = 0;
  std::uint64_t marker_ = 0;
  CallJudge judge_;
  LossTimes losses_;
  std::vector<std::unique_ptr<HourLoad>> loads_;
};

}  // namespace sheaf::test

#endif
