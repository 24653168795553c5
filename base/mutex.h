#pragma once

// Mutex, lock and condition variable: the standard ones, with the attributes that let clang prove
// that code holds the mutex of every guarded member it uses (-Wthread-safety). What it cannot prove
// is an error in the build with AddressSanitizer.
//
//   sync::Mutex mutex_;
//   int count_ SHEAF_GUARDED_BY(mutex_) = 0;
//   void add() SHEAF_REQUIRES(mutex_) { ++count_; }  // the caller holds the mutex
//
// The functions are not inline, although that costs a call: a program can link its own definitions
// in place of mutex.cpp. The simulator does so, and decides which thread runs after each of them.
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
// For code that clang cannot follow: the function is not checked.
#define SHEAF_UNCHECKED SHEAF_ATTRIBUTE(no_thread_safety_analysis)

namespace sheaf::sync {

class SHEAF_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept SHEAF_ACQUIRE();
  void unlock() noexcept SHEAF_RELEASE();
  // Does nothing at run time. It asserts that the mutex is held where clang cannot see it: the
  // caller holds it under another name.
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

// Callers check their condition in a loop around the wait, because a wait may end spuriously.
class CondVar {
 public:
  void wait(Mutex& mutex) noexcept SHEAF_REQUIRES(mutex);
  // Returns false once `until`, on the clock of read_monotonic(), has come.
  bool wait_until(Mutex& mutex, Deadline until) noexcept SHEAF_REQUIRES(mutex);
  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  std::condition_variable condition_;
};

}  // namespace sheaf::sync
