#pragma once

// Memory that no code may read or write until it is given out again. AddressSanitizer reports an
// access to it; in other builds these functions do nothing.
//
// Thread rule: one thread at a time for the same memory.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SHEAF_POISON
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHEAF_POISON
#endif
#endif
#ifdef SHEAF_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace sheaf {

inline void poison([[maybe_unused]] const void* memory,
                   [[maybe_unused]] std::size_t size) noexcept {
#ifdef SHEAF_POISON
  __asan_poison_memory_region(memory, size);
#endif
}

inline void unpoison([[maybe_unused]] const void* memory,
                     [[maybe_unused]] std::size_t size) noexcept {
#ifdef SHEAF_POISON
  __asan_unpoison_memory_region(memory, size);
#endif
}

inline bool is_poisoned([[maybe_unused]] const void* memory) noexcept {
#ifdef SHEAF_POISON
  return __asan_address_is_poisoned(memory) != 0;
#else
  return false;
#endif
}

}  // namespace sheaf
