#pragma once

// One engine behind its MQTT server sessions, shared by the clients of this process. Whichever
// client has something to do drives it, under the engine's mutex; what that gives others to read is
// announced to their streams.
//
// Locks, in this order: the engine's mutex, then a lane's mailbox, then the lane's loop.
//
// Thread rule: any thread, through Guard.

#include <mutex>
#include <unordered_map>
#include <vector>

#include "store/server/host.h"

namespace sheaf::store::pipe {

class PipeLane;
class PipeStream;

class SharedEngine {
 public:
  explicit SharedEngine(const EngineOptions& options);
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;

  const EngineOptions& options() const { return options_; }

  // Exclusive use of the engine by a lane. Its end announces what became ready.
  class Guard {
   public:
    Guard(SharedEngine& engine, PipeLane& lane, Now now);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    server::Host& host() { return engine_.host_; }
    // Time as the engine sees it: that of lanes differs by as much as a turn, and must not go back.
    Now now() const { return now_; }

    void add(server::Host::Connection& connection, PipeStream& stream);
    void remove(server::Host::Connection& connection);
    void join();
    // The lane goes; another one takes over the engine's timer.
    void leave();

   private:
    SharedEngine& engine_;
    PipeLane& lane_;
    std::scoped_lock<std::mutex> lock_;
    Now now_;
  };

 private:
  const EngineOptions options_;
  std::mutex mutex_;
  server::Host host_;
  Deadline last_{0};
  std::unordered_map<server::Host::Connection*, PipeStream*> streams_;
  std::vector<PipeLane*> lanes_;
};

}  // namespace sheaf::store::pipe
