#pragma once

// Lane: the Leader/Followers pattern over one loop. The thread that holds the baton turns the loop
// for all threads. A blocking caller that finds the baton free takes it and turns the loop until
// its own answer arrives, so a lone caller needs no switch to another thread. Callers that arrive
// meanwhile queue their task and sleep. A keeper thread turns the loop when no call has come for a
// while and when a crowd waits: then many answers become one wake-up, and many requests one write.
//
//   state of the baton   meaning
//   free                 no thread drives
//   caller               a caller drives, or was promoted and is about to
//   called               the keeper was given the baton and is about to drive
//   keeper               the keeper drives
//   caller_asleep,       as caller and keeper, but the driver sleeps in the loop or is about to:
//   keeper_asleep        new work must wake the loop
//   stopped              the lane has ended
//
//   from                 event                                                    to
//   free                 call(): this caller drives                               caller
//   free                 post(): the keeper is unparked                           called
//   free                 the keeper looks, and the grace time is over             keeper
//   called               the keeper looks                                         keeper
//   caller, keeper       the loop is about to sleep and no task is queued         ..._asleep
//   ..._asleep           call() or post() wakes the loop, or the next turn begins caller, keeper
//   caller               its answer has arrived, and
//                          a crowd sleeps, or no caller does but asynchronous
//                          work is in flight or a task is queued                  called
//                          a caller sleeps: the oldest sleeper is promoted        caller
//                          no caller sleeps                                       free
//   keeper               after a turn callers sleep, but no crowd: the oldest
//                        sleeper is promoted                                      caller
//   any                  stop()                                                   stopped
//
// A lane may have a LaneDriver (lane_driver.h) instead of its keeper, for programs that want no
// threads of the library. Then `called` means that the driver was notified, and a caller may still
// take the baton. poll() does the keeper's work: it holds the baton for turns that do not wait, and
// at its end releases the baton or promotes the oldest sleeper. A crowd is not handed to it,
// because sleepers must not depend on a program that polls late.
//
// Thread rule: call(), post(), post_async() and the queries from any thread. Everything below the
// client is touched only by the thread that holds the baton. The baton is handed over under
// `mutex_`, which also guards the queue of tasks and the list of sleepers.
//
// Wake-ups are the main cost, so the lane makes as few as possible:
// - A driver that polls without sleeping is not woken for new work: it looks for it.
// - A driver that sleeps is woken once for all work that is queued before it looks.
// - Sleepers whose answers arrive in one turn are woken together at its end. The keeper lets them
//   run before it continues, so that their next requests become one write.
// - A caller whose answer should arrive soon yields the processor a few times before it sleeps. On
//   a busy machine the answer has often arrived by then.

#include <atomic>

#include "base/intrusive_list.h"
#include "base/mutex.h"
#include "base/parker.h"
#include "base/quiet_thread.h"
#include "socket/lane/lane_controls.h"
#include "socket/seam.h"

namespace sheaf::socket {

class LaneDriver;

class Lane final : private Deferred, private IdleHook {
 public:
  static constexpr std::chrono::milliseconds usual_grace{5};

  // Work to run once under the baton. Its poster keeps it alive until run() has begun.
  class Task : public ListHook<Task> {
   public:
    virtual void run(Now now) = 0;

   protected:
    ~Task() = default;
  };

  // A blocking caller. The object is on its stack.
  class Waiter : public ListHook<Waiter> {
   public:
    // `yields`: how often the caller yields the processor before it sleeps. It pays where the
    // answer may arrive in the time of a sleep and a wake-up. `wait`: how the loop waits while this
    // caller drives. Wait::read is for lanes that other threads seldom give work to.
    explicit Waiter(unsigned yields = 0, Wait wait = Wait::spin) noexcept
        : yields_(yields), wait_(wait) {}

   private:
    friend class Lane;
    enum class State : std::uint8_t {
      waiting,   // sleeps; if it is woken in this state, it has its answer
      promoted,  // was woken to drive, and drives
      done,      // drives and has its answer
    };
    const unsigned yields_;
    const Wait wait_;
    State state_ = State::waiting;
    Waiter* next_answered_ = nullptr;  // under the baton
    Parker parker_;
  };

  // The loop must outlive the lane. `grace`: the keeper drives after no call has come for this
  // long; it also looks this often. start() throws std::system_error if the system cannot create a
  // thread.
  explicit Lane(DrivenLoop& loop, std::chrono::milliseconds grace = usual_grace,
                const LaneControls& controls = {})
      : loop_(loop), grace_(grace), controls_(controls) {
    loop_.set_idle_hook(this);
  }
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  void start();
  // Starts without a keeper: the driver, which must outlive the lane, calls poll(). May throw
  // std::system_error.
  void start(LaneDriver& driver);

  // Any thread. Runs the task and returns after the driving thread has called finish(waiter).
  void call(Task& task, Waiter& waiter);
  // Any thread. Runs the task soon, on the thread that drives then.
  void post(Task& task);
  // Asynchronous work: posts its task, and keeps the baton from becoming free until async_end().
  void post_async(Task& task) {
    ++async_;
    post(task);
  }
  void async_end() noexcept { --async_; }
  bool has_async() const noexcept { return async_ > 0; }
  // How many threads are in call(), so that another call would wait.
  unsigned callers() noexcept;
  // True on a thread that drives a lane: it must not block in call().
  static bool drives_here() noexcept;

  // Under the baton.
  void finish(Waiter& waiter) noexcept;
  // Takes back a posted task that has not begun, if there is one.
  void cancel(Task& task) noexcept;
  // True if the thread that holds the baton is this caller.
  bool drives(const Waiter& waiter) const noexcept { return driver_ == &waiter; }

  // Ends the keeper, or leaves the driver. No call may be in progress, and none may follow.
  void stop() noexcept;

  // Called by the driver: turns the loop without waiting until there is nothing more to do, unless
  // a caller drives. Returns when to poll again if nothing else happens (0 for at once), or `never`
  // if a caller drives.
  Deadline poll();

 private:
  enum class Baton : std::uint8_t {
    free,
    caller,
    caller_asleep,
    called,
    keeper,
    keeper_asleep,
    stopped,
  };
  static constexpr std::chrono::milliseconds crowd_time{5};  // a crowd is remembered for this long

  void drive(Waiter& waiter);
  void turn(Deadline until);
  void wake_answered() noexcept;
  void pass_on(bool tell_driver = true);
  void keeper_main();
  void keeper_drive();
  bool step_down(Now now, Deadline& until);
  void run_deferred(Now now) override;
  bool has_work() noexcept override {
    return answered_ != nullptr || queued_.load(std::memory_order_relaxed);
  }
  bool may_sleep() noexcept override;
  bool enqueue(Task& task) noexcept SHEAF_REQUIRES(mutex_);
  bool set_awake() noexcept SHEAF_REQUIRES(mutex_);
  Waiter* promote_oldest() noexcept SHEAF_REQUIRES(mutex_);

  DrivenLoop& loop_;
  const std::chrono::milliseconds grace_;
  const LaneControls controls_;
  LaneDriver* driver_of_lane_ = nullptr;  // instead of a keeper
  QuietThread keeper_;
  Parker keeper_parker_;
  std::atomic<unsigned> async_ = 0;
  // Under the baton:
  Waiter* driver_ = nullptr;    // the caller that drives; null: the keeper
  Waiter* answered_ = nullptr;  // sleepers to wake at the end of the turn, oldest first
  Waiter** answered_end_ = &answered_;
  Deadline crowd_until_{0};

  sync::Mutex mutex_;
  Baton baton_ SHEAF_GUARDED_BY(mutex_) = Baton::free;
  IntrusiveList<Task> queue_ SHEAF_GUARDED_BY(mutex_);
  IntrusiveList<Waiter> sleepers_ SHEAF_GUARDED_BY(mutex_);
  Deadline released_at_ SHEAF_GUARDED_BY(mutex_){0};  // when the baton last became free
  std::atomic<bool> queued_ = false;                  // queue_ is not empty; read without the lock
};

}  // namespace sheaf::socket
