#pragma once

// One client's side of all engines that it uses: its loop, the mailbox into which other clients'
// threads put streams that have something to read, and the timer that lets the engines expire keys.
//
// Thread rule: under the loop's baton, but summon() and mail() from any thread that holds an
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
  // Looks after timers and mail before this turn ends.
  void touch() { loop_.defer(*this); }
  // The same in the next turn, from any thread.
  void summon() noexcept { summoner_.summon(*this); }
  // A stream that could not hand over everything in this turn goes on in the next.
  void put_off(PipeStream& stream);
  void forget(PipeStream& stream) noexcept;

  // The stream has something to read; `driver` is the lane whose thread found out.
  static void announce(PipeStream& stream, PipeLane& driver);

 private:
  void run_deferred(Now now) override;
  void on_timer(Now now) override;
  void collect_mail();
  void arm(Now now);

  socket::Loop& loop_;
  Summoner& summoner_;
  const Engines engines_;
  std::vector<PipeStream*> put_off_;
  std::unique_ptr<socket::Timer> timer_;
  std::mutex mutex_;
  std::vector<PipeStream*> mail_;  // guarded by mutex_
};

}  // namespace sheaf::store::pipe
