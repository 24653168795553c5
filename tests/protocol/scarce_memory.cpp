#include "tests/protocol/scarce_memory.h"

#include <cstdlib>
#include <new>

#include "tests/protocol/freed_memory.h"

namespace {

void* allocate(std::size_t size) noexcept {
  using sheaf::protocol::allocations_left;
  if (allocations_left == 0) return nullptr;
  if (allocations_left > 0) --allocations_left;
  ++sheaf::protocol::allocations_made;
  return std::malloc(size > 0 ? size : 1);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
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
