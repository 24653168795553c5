#pragma once

// A thread of the library. It blocks all signals, because handlers belong to the application's
// threads, and it has a name that debuggers show.
//
// Thread rule: as std::thread.

#include <functional>
#include <memory>

namespace sheaf {

class QuietThread {
 public:
  QuietThread() noexcept;
  // `name` has up to 15 characters. Throws std::system_error if the system cannot create a thread.
  QuietThread(const char* name, std::function<void()> main);
  QuietThread(QuietThread&& other) noexcept;
  QuietThread& operator=(QuietThread&& other) noexcept;
  ~QuietThread();

  bool joinable() const noexcept { return thread_ != nullptr; }
  void join();
  void detach();

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;  // null: none
};

// Lets another thread run if one waits for this processor.
void yield_processor() noexcept;

}  // namespace sheaf
