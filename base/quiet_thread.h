#pragma once

// A thread of the library. It takes no signal, for handlers belong to the application's threads,
// and it has a name that debuggers show.
//
// Thread rule: as std::thread.

#include <functional>
#include <thread>
#include <utility>

namespace sheaf {

class QuietThread {
 public:
  QuietThread() = default;
  // `name`: up to 15 characters. May throw std::system_error when no thread can be had.
  QuietThread(const char* name, std::function<void()> main);
  QuietThread(QuietThread&&) = default;
  QuietThread& operator=(QuietThread&&) = default;

  bool joinable() const noexcept { return thread_.joinable(); }
  void join();
  void detach() { thread_.detach(); }

 private:
  std::thread thread_;
};

// Lets another thread run, if one waits for this processor.
void yield_processor() noexcept;

}  // namespace sheaf
