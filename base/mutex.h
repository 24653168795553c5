#pragma once

// Mutex, lock and condition variable: the standard ones with the attributes by which clang proves
// that whoever touches a guarded member holds its mutex (-Wthread-safety). tests/structure compiles
// the product with that check.
//
//   sync::Mutex mutex_;
//   int count_ SHEAF_GUARDED_BY(mutex_) = 0;
//   void add() SHEAF_REQUIRES(mutex_) { ++count_; }  // the caller holds the mutex
//
// The functions are not inline, although that costs a call: a program can link its own definitions
// in place of mutex.cpp. The simulator does, and so decides which thread runs after each of them.
//
// Thread rule: any thread.

#include <condition_variable>
#include <mutex>

#include "base/clock.h"

#if defined(__clang__)
#define SHEAF_ATTRIBUTE(x) __attribute__((x))
#else
#define SHEAF_ATTRIBUTE(x)
#endif
#define SHEAF_CAPABILITY(name) SHEAF_ATTRIBUTE(capability(name))
#define SHEAF_SCOPED_CAPABILITY SHEAF_ATTRIBUTE(scoped_lockable)
#define SHEAF_GUARDED_BY(mutex) SHEAF_ATTRIBUTE(guarded_by(mutex))
#define SHEAF_REQUIRES(...) SHEAF_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define SHEAF_ACQUIRE(...) SHEAF_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define SHEAF_RELEASE(...) SHEAF_ATTRIBUTE(release_capability(__VA_ARGS__))
#define SHEAF_ASSERT_HELD SHEAF_ATTRIBUTE(assert_capability(this))
// For what clang cannot follow: the function is not checked.
#define SHEAF_UNCHECKED SHEAF_ATTRIBUTE(no_thread_safety_analysis)

namespace sheaf::sync {

class SHEAF_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept SHEAF_ACQUIRE();
  void unlock() noexcept SHEAF_RELEASE();
  // Does nothing. Says that the mutex is held where clang cannot know: it is a caller's, under
  // another name.
  void assert_held() const noexcept SHEAF_ASSERT_HELD {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a mutex until the end of the scope.
class SHEAF_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) noexcept SHEAF_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() SHEAF_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// What it waits for is looked at in a loop around the wait, for a wait may end without a reason.
class CondVar {
 public:
  void wait(Mutex& mutex) noexcept SHEAF_REQUIRES(mutex);
  // False once `until` has come, on the clock of read_monotonic().
  bool wait_until(Mutex& mutex, Deadline until) noexcept SHEAF_REQUIRES(mutex);
  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  std::condition_variable condition_;
};

}  // namespace sheaf::sync
