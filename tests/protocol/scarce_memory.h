#pragma once

// Memory that runs out. Replaces the allocation functions of the program, so include it in only one
// file of a test program.

#include <cstdlib>
#include <new>

#include "tests/protocol/freed_memory.h"

namespace sheaf::protocol {

// Every allocation of this program counts this down. The one that finds zero fails.
inline constexpr long no_limit = -1;
inline thread_local long allocations_left = no_limit;

inline void* allocate(std::size_t size) noexcept {
  if (allocations_left == 0) return nullptr;
  if (allocations_left > 0) --allocations_left;
  return std::malloc(size > 0 ? size : 1);
}

// Allows only `count` allocations while it exists.
class Scarce {
 public:
  explicit Scarce(long count) { allocations_left = count; }
  ~Scarce() { allocations_left = no_limit; }
};

}  // namespace sheaf::protocol

[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = sheaf::protocol::allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return sheaf::protocol::allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return sheaf::protocol::allocate(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  sheaf::protocol::look_over(memory);
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  operator delete(memory);
}
