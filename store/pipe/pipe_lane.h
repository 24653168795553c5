#pragma once

// One client's side of all engines that it uses: the client's loop, a mailbox and a timer. The
// threads of other clients put streams that have something to read into the mailbox. The timer
// expires keys in the engines.
//
// Thread rule: under the loop's baton. take_over() and announce() may be called by any thread that
// holds an engine's Guard.

#include <vector>

#include "base/mutex.h"
#include "socket/seam.h"
#include "store/pipe/registry.h"

namespace sheaf::store::pipe {

class PipeLane final : private socket::Deferred, private socket::TimerSink {
 public:
  PipeLane(socket::DrivenLoop& loop, Engines engines);
  ~PipeLane();
  PipeLane(const PipeLane&) = delete;
  PipeLane& operator=(const PipeLane&) = delete;

  socket::DrivenLoop& loop() { return loop_; }
  // Null if there is no such engine.
  SharedEngine* engine(std::size_t index);
  // The engine was used. Before this turn ends, the lane asks it when to tick.
  void touch(std::size_t index);
  // Any thread. The keeper of an engine has left: asks every engine when to tick.
  void take_over() noexcept;
  // A stream could not pass everything on in this turn: it continues in the next one.
  void postpone(PipeStream& stream);
  void forget(PipeStream& stream) noexcept;

  // The stream has something to read. `driver` is the lane whose thread found that; null: another
  // thread did.
  static void announce(PipeStream& stream, PipeLane* driver);

 private:
  void run_deferred(Now now) override;
  void on_timer(Now now) override;
  struct UsedEngine {
    std::shared_ptr<SharedEngine> engine;
    Deadline next_tick = never;
    bool touched = true;  // next_tick must be read again
  };

  void collect_mail();
  void arm(Now now);

  socket::DrivenLoop& loop_;
  std::vector<UsedEngine> engines_;
  std::vector<PipeStream*> postponed_;
  std::unique_ptr<socket::Timer> timer_;
  sync::Mutex mutex_;
  std::vector<PipeStream*> mail_ SHEAF_GUARDED_BY(mutex_);
  bool takes_over_ SHEAF_GUARDED_BY(mutex_) = false;  // take_over() was called
};

}  // namespace sheaf::store::pipe
