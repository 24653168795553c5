#include "base/quiet_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace sheaf {
namespace {

// A new thread inherits the signal mask of the thread that starts it.
class AllBlocked {
 public:
  AllBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  ~AllBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }
  AllBlocked(const AllBlocked&) = delete;
  AllBlocked& operator=(const AllBlocked&) = delete;

 private:
  sigset_t old_;
};

}  // namespace

struct QuietThread::Thread {
  std::thread thread;
};

QuietThread::QuietThread() noexcept = default;
QuietThread::QuietThread(const char* name, std::function<void()> main) {
  const AllBlocked blocked;
  thread_ = std::make_unique<Thread>(std::thread([name, main = std::move(main)] {
    pthread_setname_np(pthread_self(), name);
    main();
  }));
}
QuietThread::QuietThread(QuietThread&& other) noexcept = default;
QuietThread& QuietThread::operator=(QuietThread&& other) noexcept = default;
QuietThread::~QuietThread() = default;

void QuietThread::join() {
  thread_->thread.join();
  thread_ = nullptr;
}

void QuietThread::detach() {
  thread_->thread.detach();
  thread_ = nullptr;
}

void yield_processor() noexcept { sched_yield(); }

}  // namespace sheaf
