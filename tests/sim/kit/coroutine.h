#pragma once

// Coroutine: work on a stack of its own, which may stop anywhere while other work goes on. All
// coroutines share one thread of the operating system, so one of them runs at a time.
//
// With the stack change the exceptions that are thrown or handled there, and errno; thread_local
// variables do not. The sanitizers are told of every change. A stack whose work has ended serves
// other work.
//
// Thread rule: one thread of the operating system.

#include <cstddef>
#include <functional>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace sheaf::sim {

class Coroutine {
 public:
  // Returns who goes on when the work has ended.
  using Work = std::function<Coroutine&()>;

  // What the calling thread of the operating system does already, on its own stack.
  Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;
  ~Coroutine() = default;

  // `work` begins when somebody first switches to it.
  static Coroutine& make(Work work);

  // This one runs: it stops, and the other one goes on. Returns when somebody switches back.
  void switch_to(Coroutine& next) noexcept;

  // Nobody switches to this one any more. Its stack stays as it is, and what it refers to is no
  // leak.
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
