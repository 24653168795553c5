#pragma once

// One engine with the server sessions of its clients, shared by the clients of this process. A
// client that has work for it runs it on its own thread, under the engine's mutex. Streams of other
// clients that then have something to read are announced to their lanes.
//
// A store with a file must not reveal anything unsaved, so the mutex protects it: releasing the
// mutex commits first. If that fails, the connections end without the output that they have not
// been given yet.
//
// Lock order: the engine's mutex, a lane's mailbox, the lane's loop.
//
// Thread rule: any thread, through Guard.

#include <expected>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "store/durable/saver.h"
#include "store/server/host.h"

namespace sheaf::store::pipe {

class PipeLane;
class PipeStream;

class SharedEngine {
 public:
  explicit SharedEngine(const EngineOptions& options);
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;

  // Opens the engine with this index, with the contents of its file if the options name one. The
  // error is one sentence.
  static std::expected<std::shared_ptr<SharedEngine>, std::string> open(
      const EngineOptions& options, unsigned index);

  const EngineOptions& options() const { return options_; }

  // Exclusive use of the engine by a lane. The destructor announces the streams that became ready.
  class SHEAF_SCOPED_CAPABILITY Guard {
   public:
    Guard(SharedEngine& engine, PipeLane& lane, Now now) SHEAF_ACQUIRE(engine.mutex_);
    ~Guard() SHEAF_RELEASE();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    server::Host& host() SHEAF_UNCHECKED { return engine_.host_; }
    // The engine's time. The times of two lanes differ by up to a turn; the engine's never goes
    // back.
    Now now() const { return now_; }
    // When the engine or its file next has work.
    Deadline next_deadline() const;

    void add(server::Host::Connection& connection, PipeStream& stream);
    void remove(server::Host::Connection& connection);
    void join();
    // The lane ends. Another one takes over the engine's timer.
    void leave();

   private:
    void settle() SHEAF_UNCHECKED;

    SharedEngine& engine_;
    PipeLane& lane_;
    Now now_;
  };

 private:
  const EngineOptions options_;
  sync::Mutex mutex_;
  server::Host host_ SHEAF_GUARDED_BY(mutex_);
  std::unique_ptr<Saver> saver_ SHEAF_GUARDED_BY(mutex_);  // null: in memory only
  Deadline last_ SHEAF_GUARDED_BY(mutex_){0};
  std::unordered_map<server::Host::Connection*, PipeStream*> streams_ SHEAF_GUARDED_BY(mutex_);
  std::vector<PipeLane*> lanes_ SHEAF_GUARDED_BY(mutex_);
};

}  // namespace sheaf::store::pipe
