#pragma once

// Coroutine: work on a stack of its own, which may stop anywhere while other work continues. All
// coroutines share one operating system thread, so one of them runs at a time.
//
// Exceptions being thrown or handled and errno change with the stack; thread_local variables do
// not. The sanitizers are notified of every switch. A stack whose work has ended is reused.
//
// Thread rule: one operating system thread.

#include <cstddef>
#include <functional>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace sheaf::sim {

class Coroutine {
 public:
  // Returns the coroutine that continues when the work has ended.
  using Work = std::function<Coroutine&()>;

  // What the calling operating system thread already runs, on its own stack.
  Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;
  ~Coroutine() = default;

  // `work` begins at the first switch to it.
  static Coroutine& make(Work work);

  // Stops this coroutine, which is the running one, and continues the other. Returns at the next
  // switch back.
  void switch_to(Coroutine& next) noexcept;

  // No coroutine switches to this one again. Its stack stays as it is, and what it refers to is not
  // a leak.
  void abandon() const;

 private:
  struct Stack {
    char* lowest;
    std::size_t size;
  };
  explicit Coroutine(const Stack& stack);
  static Stack map_stack();
  [[noreturn]] static void enter() noexcept;
  void prepare() noexcept;
  void announce(Coroutine& next) noexcept;
  void arrive() noexcept;
  const char* lowest_used() const noexcept;

  Work work_;
  const void* bottom_ = nullptr;  // of the stack
  std::size_t size_ = 0;
#ifdef __x86_64__
  void* stack_pointer_ = nullptr;  // while it is stopped
#else
  ucontext_t context_{};
  const char* frame_ = nullptr;
#endif
  void* fake_stack_ = nullptr;  // of AddressSanitizer
  void* fiber_ = nullptr;       // of ThreadSanitizer
};

}  // namespace sheaf::sim
