#include "tests/sim/kit/coroutine.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "tests/support/sanitized.h"

#ifdef SHEAF_TEST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef SHEAF_TEST_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace sheaf::sim {
namespace {

constexpr std::size_t stack_size = (test::sanitized ? 1024 : 256) * std::size_t{1024};
constexpr std::size_t guard_size = 4096;

// The start of __cxa_eh_globals, as the C++ ABI lays it out.
struct Exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;
};
Exceptions& exceptions() noexcept {
  return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
}

// Set during a switch.
Coroutine* leaving = nullptr;
Coroutine* arriving = nullptr;

// Coroutines whose work has ended.
std::vector<Coroutine*>& idle() {
  static auto* const all = new std::vector<Coroutine*>;
  return *all;
}

#ifdef __x86_64__
// Stops on this stack, saves the registers that the caller expects to find again, and continues on
// another stack. swapcontext() does the same, but asks the kernel for the signal mask each time.
__attribute__((naked, noinline)) void switch_stacks(void** /*stopped*/, void* /*next*/) {
  __asm__(
      "pushq %rbp\n\t"
      "pushq %rbx\n\t"
      "pushq %r12\n\t"
      "pushq %r13\n\t"
      "pushq %r14\n\t"
      "pushq %r15\n\t"
      "movq %rsp, (%rdi)\n\t"
      "movq %rsi, %rsp\n\t"
      "popq %r15\n\t"
      "popq %r14\n\t"
      "popq %r13\n\t"
      "popq %r12\n\t"
      "popq %rbx\n\t"
      "popq %rbp\n\t"
      "ret");
}
#endif

}  // namespace

Coroutine::Coroutine() {
#ifdef SHEAF_TEST_TSAN
  fiber_ = __tsan_get_current_fiber();
#endif
}

Coroutine::Coroutine(const Stack& stack) : bottom_(stack.lowest), size_(stack.size) {
  prepare();
#ifdef SHEAF_TEST_TSAN
  fiber_ = __tsan_create_fiber(0);
#endif
}

Coroutine& Coroutine::make(Work work) {
  Coroutine* made = nullptr;
  if (idle().empty()) {
    made = new Coroutine(map_stack());
  } else {
    made = idle().back();
    idle().pop_back();
  }
  made->work_ = std::move(work);
  return *made;
}

// An overrun hits a page without access rights.
Coroutine::Stack Coroutine::map_stack() {
  void* const mapped = mmap(nullptr, guard_size + stack_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  SHEAF_CHECK(mapped != MAP_FAILED);
  SHEAF_CHECK(mprotect(mapped, guard_size, PROT_NONE) == 0);
  return {static_cast<char*>(mapped) + guard_size, stack_size};
}

void Coroutine::enter() noexcept {
  Coroutine& self = *arriving;
  self.arrive();
  for (;;) {
    Coroutine& next = self.work_();
    self.work_ = nullptr;
    idle().push_back(&self);
    self.switch_to(next);
  }
}

#ifdef __x86_64__
// Lays the stack out as switch_stacks() leaves one: six registers, and the address to continue at.
// Above them is the return address of enter(), which has none.
void Coroutine::prepare() noexcept {
  auto** const top =
      reinterpret_cast<void**>(static_cast<char*>(const_cast<void*>(bottom_)) + size_);
  top[-1] = nullptr;
  top[-2] = reinterpret_cast<void*>(&enter);
  stack_pointer_ = top - 8;
}
const char* Coroutine::lowest_used() const noexcept {
  return static_cast<const char*>(stack_pointer_);
}
#else
void Coroutine::prepare() noexcept {
  SHEAF_CHECK(getcontext(&context_) == 0);
  context_.uc_stack.ss_sp = const_cast<void*>(bottom_);
  context_.uc_stack.ss_size = size_;
  makecontext(&context_, &enter, 0);
  frame_ = static_cast<const char*>(bottom_) + size_;
}
const char* Coroutine::lowest_used() const noexcept { return frame_ - 512; }  // and its locals
#endif

void Coroutine::switch_to(Coroutine& next) noexcept {
  Exceptions& here = exceptions();
  const Exceptions kept = std::exchange(here, {});
  const int error = errno;
  announce(next);
#ifdef __x86_64__
  switch_stacks(&stack_pointer_, next.stack_pointer_);
#else
  frame_ = static_cast<const char*>(__builtin_frame_address(0));
  swapcontext(&context_, &next.context_);
#endif
  arrive();
  here = kept;
  errno = error;
}

void Coroutine::announce(Coroutine& next) noexcept {
  leaving = this;
  arriving = &next;
#ifdef SHEAF_TEST_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.size_);
#endif
#ifdef SHEAF_TEST_TSAN
  __tsan_switch_to_fiber(next.fiber_, 0);
#endif
}

void Coroutine::arrive() noexcept {
#ifdef SHEAF_TEST_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &leaving->bottom_, &leaving->size_);
#endif
}

#ifdef SHEAF_TEST_ASAN
// Frames may be on AddressSanitizer's own stack, to which the real one then refers.
__attribute__((no_sanitize("address"))) void Coroutine::abandon() const {
  const char* const lowest = lowest_used();
  const char* const end = static_cast<const char*>(bottom_) + size_;
  __lsan_register_root_region(lowest, static_cast<std::size_t>(end - lowest));
  if (fake_stack_ == nullptr) return;
  for (const char* at = lowest; at < end; at += sizeof(void*)) {
    void* const word = *reinterpret_cast<void* const*>(at);
    void* first = nullptr;
    void* last = nullptr;
    if (__asan_addr_is_in_fake_stack(fake_stack_, word, &first, &last) == nullptr) continue;
    __lsan_register_root_region(
        first, static_cast<std::size_t>(static_cast<char*>(last) - static_cast<char*>(first)));
  }
}
#else
void Coroutine::abandon() const {}
#endif

}  // namespace sheaf::sim
