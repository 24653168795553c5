#pragma once

// A thread of ours that takes no signal: handlers belong to the application's threads.
//
// Thread rule: any thread.

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace sheaf::socket {

// May throw std::system_error when no thread can be had.
template <class Main>
std::thread start_quiet_thread(Main main) {
  // New threads begin with the mask of the one that starts them.
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
  const AllBlocked blocked;
  return std::thread(std::move(main));
}

}  // namespace sheaf::socket
