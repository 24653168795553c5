#include "tests/support/counted_heap.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

// What glibc's own functions call.
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* memory, std::size_t size);            // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
void __libc_free(void* memory);                                  // NOLINT
}

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constinit std::atomic<bool> counting = true;
constinit std::atomic<std::size_t> in_use = 0;
constinit std::atomic<std::size_t> handed_out = 0;

void* counted(void* memory) noexcept {
  if (memory == nullptr || !counting.load(relaxed)) return memory;
  in_use.fetch_add(malloc_usable_size(memory), relaxed);
  handed_out.fetch_add(1, relaxed);
  return memory;
}

void forget(void* memory) noexcept {
  if (memory == nullptr || !counting.load(relaxed)) return;
  in_use.fetch_sub(malloc_usable_size(memory), relaxed);
}

}  // namespace

namespace sheaf::test {

std::size_t heap_in_use() noexcept { return in_use.load(relaxed); }
std::size_t allocations() noexcept { return handed_out.load(relaxed); }
void count_heap(bool on) noexcept { counting.store(on, relaxed); }

}  // namespace sheaf::test

extern "C" {

void* malloc(std::size_t size) { return counted(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return counted(__libc_calloc(count, size)); }
void* memalign(std::size_t alignment, std::size_t size) {
  return counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}
void free(void* memory) {
  forget(memory);
  __libc_free(memory);
}
void* realloc(void* memory, std::size_t size) {
  forget(memory);
  void* const moved = __libc_realloc(memory, size);
  if (moved == nullptr && size > 0) counted(memory);
  return counted(moved);
}
}
