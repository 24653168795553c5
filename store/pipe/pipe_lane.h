#pragma once

// One client's side of all engines that it uses: its loop, the mailbox into which other clients'
// threads put streams that have something to read, and the timer that lets the engines expire keys.
//
// Thread rule: under the loop's baton, but take_over() and announce() from any thread that holds an
// engine.

#include <mutex>
#include <vector>

#include "store/pipe/registry.h"
#include "store/pipe/summoner.h"

namespace sheaf::store::pipe {

class PipeLane final : private socket::Deferred, private socket::TimerSink {
 public:
  PipeLane(socket::Loop& loop, Summoner& summoner, Engines engines);
  ~PipeLane();
  PipeLane(const PipeLane&) = delete;
  PipeLane& operator=(const PipeLane&) = delete;

  socket::Loop& loop() { return loop_; }
  // Null if there is no such engine.
  SharedEngine* engine(std::size_t index);
  // The engine was used: before this turn ends, asks it when it wants to be ticked.
  void touch(std::size_t index);
  // Any thread: the same for every engine, because another lane that did it has gone.
  void take_over() noexcept;
  // A stream that could not hand over everything in this turn goes on in the next.
  void put_off(PipeStream& stream);
  void forget(PipeStream& stream) noexcept;

  // The stream has something to read; `driver` is the lane whose thread found out.
  static void announce(PipeStream& stream, PipeLane& driver);

 private:
  void run_deferred(Now now) override;
  void on_timer(Now now) override;
  struct Place {
    std::shared_ptr<SharedEngine> engine;
    Deadline next = never;  // when it wants to be ticked
    bool touched = true;
  };

  void collect_mail();
  void arm(Now now);

  socket::Loop& loop_;
  Summoner& summoner_;
  std::vector<Place> places_;
  std::vector<PipeStream*> put_off_;
  std::unique_ptr<socket::Timer> timer_;
  std::mutex mutex_;
  std::vector<PipeStream*> mail_;  // guarded by mutex_, as is the next
  bool heir_ = false;              // take_over() was called
};

}  // namespace sheaf::store::pipe
