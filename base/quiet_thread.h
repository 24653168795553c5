#pragma once

// A thread of the library. It blocks all signals, because handlers belong to the application's
// threads, and it has a name that debuggers show.
//
// Thread rule: as std::thread.

#include <functional>
#include <thread>
#include <utility>

namespace sheaf {

class QuietThread {
 public:
  QuietThread() = default;
  // `name` has up to 15 characters. Throws std::system_error if the system cannot create a thread.
  QuietThread(const char* name, std::function<void()> main);
  QuietThread(QuietThread&&) = default;
  QuietThread& operator=(QuietThread&&) = default;

  bool joinable() const noexcept { return thread_.joinable(); }
  void join();
  void detach() { thread_.detach(); }

 private:
  std::thread thread_;
};

// Lets another thread run if one waits for this processor.
void yield_processor() noexcept;

}  // namespace sheaf
