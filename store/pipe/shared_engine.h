#pragma once

// One engine with the server sessions of its clients, shared by the clients of this process. The
// client that has something to do runs it on its own thread, under the engine's mutex. Streams of
// other clients that then have something to read are announced to their lanes.
//
// Order of locks: the engine's mutex, a lane's mailbox, the lane's loop.
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

  // Exclusive use of the engine by a lane. The destructor announces the streams that became ready.
  class Guard {
   public:
    Guard(SharedEngine& engine, PipeLane& lane, Now now);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    server::Host& host() { return engine_.host_; }
    // The engine's time. The times of two lanes differ by up to a turn; the engine's never goes
    // back.
    Now now() const { return now_; }

    void add(server::Host::Connection& connection, PipeStream& stream);
    void remove(server::Host::Connection& connection);
    void join();
    // The lane ends. Another one takes over the engine's timer.
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
