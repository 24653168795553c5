#pragma once

// Lane: one loop and one baton. Who waits, drives: a blocking caller turns the loop until its own
// answer is there, so that a lone caller pays no hop to another thread. A keeper thread drives when
// nobody has called for a while and when a crowd waits.
//
//   baton     free -> a caller (call) or the keeper (post, grace time over)
//             caller done -> the oldest sleeper, the keeper if a crowd waits or asynchronous work
//             is in flight, else free keeper -> the oldest sleeper, once the crowd has gone
//
// Everything below the client is touched only by the thread that holds the baton; it is handed over
// under `mutex_`, which also guards the queue of posted tasks and the list of sleepers.
//
// What costs is waking: a driver that polls without sleeping is not woken for new work, it looks; a
// driver that sleeps is woken once for all that is posted before it looks; those who sleep for
// their answers are let go together, at the end of the turn, and the keeper lets them run before it
// goes on, so that what they ask next is one write; and who waits for a brief answer gives the
// processor to others a few times before it sleeps: on a busy machine it is often there then.

#include <atomic>
#include <mutex>
#include <thread>

#include "base/intrusive_list.h"
#include "socket/lane/parker.h"
#include "socket/uv/uv_loop.h"

namespace sheaf::socket {

class Lane final : private Deferred, private SpinGuest {
 public:
  static constexpr std::chrono::milliseconds usual_grace{5};

  // Work to be run once under the baton. The poster keeps it alive until run() has begun.
  class Task : public ListHook<Task> {
   public:
    virtual void run(Now now) = 0;

   protected:
    ~Task() = default;
  };

  // A blocking caller, on its own stack.
  class Waiter : public ListHook<Waiter> {
   public:
    // `yields`: how often it gives the processor away before it sleeps. Pays where the answer may
    // come in the time that a sleep and a wake take.
    // `wait`: how the loop waits while this caller drives; Wait::read on lanes that others have
    // seldom work for.
    explicit Waiter(unsigned yields = 0, Wait wait = Wait::spin) noexcept
        : yields_(yields), wait_(wait) {}

   private:
    friend class Lane;
    const unsigned yields_;
    const Wait wait_;
    bool done_ = false;                // read by the thread that drives for it
    bool crowned_ = false;             // woken to drive
    Waiter* next_answered_ = nullptr;  // under the baton
    Parker parker_;
  };

  // The loop must outlive the lane. `grace`: the keeper drives when nobody has for so long, and
  // looks so often. start() may throw std::system_error when no thread can be had.
  explicit Lane(UvLoop& loop, std::chrono::milliseconds grace = usual_grace)
      : loop_(loop), grace_(grace) {
    loop_.set_guest(this);
  }
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  void start();

  // Any thread. Runs the task and returns once finish(waiter) was called, by whoever drives.
  void call(Task& task, Waiter& waiter);
  // Any thread. Runs the task soon, on whichever thread drives.
  void post(Task& task);
  // Asynchronous work: posts its task, and until async_end() the baton never rests.
  void post_async(Task& task) {
    ++async_;
    post(task);
  }
  void async_end() noexcept { --async_; }
  bool has_async() const noexcept { return async_ > 0; }
  // Whether somebody is in call(), so that one more would wait.
  bool has_callers() noexcept;
  // True on a thread that drives some lane: it must not block in call().
  static bool drives_here() noexcept;

  // Under the baton.
  void finish(Waiter& waiter) noexcept;
  // Whether the thread that holds the baton is this very caller.
  bool drives(const Waiter& waiter) const noexcept { return driver_ == &waiter; }

  // Ends the keeper. No call may be in progress and none may follow.
  void stop() noexcept;

 private:
  static constexpr std::chrono::milliseconds crowd_time{5};  // a crowd is remembered so long
  static constexpr unsigned crowd_size = 2;                  // sleepers beside the driver

  void drive(Waiter& waiter);
  void turn(Deadline until);
  void drain(Now now);
  void let_go() noexcept;
  void pass_on();
  bool keeper_may_drive();
  void keeper_main();
  void keeper_drive();
  bool step_down(Now now, Deadline& until);
  void run_deferred(Now now) override;
  bool has_work() noexcept override {
    return answered_ != nullptr || queued_.load(std::memory_order_relaxed);
  }
  bool may_sleep() noexcept override;
  bool enqueue(Task& task) noexcept;

  UvLoop& loop_;
  const std::chrono::milliseconds grace_;
  std::thread keeper_;
  Parker keeper_parker_;
  std::atomic<unsigned> async_ = 0;
  // Under the baton:
  Waiter* driver_ = nullptr;    // the caller who drives; null: the keeper
  Waiter* answered_ = nullptr;  // sleepers to be let go at the end of the turn, oldest first
  Waiter** answered_end_ = &answered_;

  std::mutex mutex_;
  IntrusiveList<Task> queue_;
  std::atomic<bool> queued_ = false;  // queue_ is not empty
  IntrusiveList<Waiter> sleepers_;
  bool driving_ = false;        // somebody holds the baton
  bool asleep_ = false;         // in the loop, or about to be: wake it for new work
  bool keeper_drives_ = false;  // or will, as soon as it wakes
  bool keeper_called_ = false;  // the baton was given to the keeper
  bool stopping_ = false;
  Deadline released_at_{0};
  Deadline crowd_until_{0};  // under the baton
};

}  // namespace sheaf::socket
