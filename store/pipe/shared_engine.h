#pragma once

// One engine with the server sessions of its clients, shared by the clients of this process. A
// client that has work for it runs it on its own thread, under the engine's mutex. Streams of other
// clients that then have something to read are announced to their lanes.
//
// A store with a file must not reveal anything unsaved. It has a thread that commits, and does not
// hold the mutex while the disk works. What is executed meanwhile is the next commit. Connections
// are given results only when the commit is over that they need. If it fails, the connections end
// without the output that they have not been given yet.
//
// One lane, the keeper, looks after what the engine does by itself: it expires keys and ends silent
// connections. Otherwise each deadline would wake the lanes of all clients. The keeper is the lane
// whose timer is the earliest. A lane whose client is active sets its own timer a little later, and
// takes over if the keeper has not kept its time, because no thread turns the keeper's loop.
//
// Lock order: the engine's mutex, a lane's mailbox, the lane's loop.
//
// Thread rule: any thread, through Guard.

#include <expected>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/mutex.h"
#include "base/quiet_thread.h"
#include "store/durable/saver.h"
#include "store/server/host.h"

namespace sheaf::store::pipe {

class PipeLane;
class PipeStream;

class SharedEngine {
 public:
  // How late a keeper may be.
  static constexpr std::chrono::milliseconds patience{100};

  explicit SharedEngine(const EngineOptions& options);
  // Commits what is left.
  ~SharedEngine();
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;

  // Opens the engine with this index, with the contents of its file if the options name one. The
  // error is one sentence.
  static std::expected<std::shared_ptr<SharedEngine>, std::string> open(
      const EngineOptions& options, unsigned index);
  // From now on the engine, which no lane uses yet, keeps its data by this saver of host(). Throws
  // std::system_error if the system cannot create a thread.
  void keep_by(std::unique_ptr<Saver> saver);
  // Before keep_by(): the engine that the saver is for.
  Engine& engine() SHEAF_UNCHECKED { return host_.engine(); }

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
    // The lane has used the engine: when it is to call tick().
    Deadline watch();
    // The lane's timer has fired. Does what is due, unless the keeper does it. Returns when to call
    // it again.
    Deadline tick();
    // How often tick() had something to do.
    std::uint64_t ticks() const;

    void add(server::Host::Connection& connection, PipeStream& stream);
    void remove(server::Host::Connection& connection);
    void join();
    // The lane ends. If it is the keeper, another one takes its place.
    void leave();

   private:
    bool overdue() const SHEAF_UNCHECKED;
    Deadline next_deadline() const SHEAF_UNCHECKED;

    SharedEngine& engine_;
    PipeLane& lane_;
    Now now_;
  };

 private:
  void settle(Now now) SHEAF_REQUIRES(mutex_);
  void announce_ready(PipeLane* driver) SHEAF_REQUIRES(mutex_);
  void save_main();
  void save() SHEAF_REQUIRES(mutex_);
  Now advance(Now now) SHEAF_REQUIRES(mutex_);

  const EngineOptions options_;
  sync::Mutex mutex_;
  server::Host host_ SHEAF_GUARDED_BY(mutex_);
  std::unique_ptr<Saver> saver_ SHEAF_GUARDED_BY(mutex_);  // null: in memory only
  sync::CondVar work_;                                     // for the thread that commits
  Deadline wakes_at_ SHEAF_GUARDED_BY(mutex_){0};          // it sleeps until then; 0: it is awake
  bool ending_ SHEAF_GUARDED_BY(mutex_) = false;
  Deadline last_ SHEAF_GUARDED_BY(mutex_){0};
  std::unordered_map<server::Host::Connection*, PipeStream*> streams_ SHEAF_GUARDED_BY(mutex_);
  std::unordered_set<PipeLane*> lanes_ SHEAF_GUARDED_BY(mutex_);
  PipeLane* keeper_ SHEAF_GUARDED_BY(mutex_) = nullptr;
  Deadline kept_ SHEAF_GUARDED_BY(mutex_) = never;  // the keeper's timer
  std::uint64_t ticks_ SHEAF_GUARDED_BY(mutex_) = 0;
  QuietThread committer_;
};

}  // namespace sheaf::store::pipe
