#pragma once

// Detects a secret in memory that is freed. Works in programs that use the allocation functions of
// scarce_memory.h.

#include <malloc.h>
#include <string.h>  // <cstring> does not have memmem

#include <string_view>

namespace sheaf::protocol {

inline thread_local std::string_view looked_for{};
inline thread_local unsigned found_in_freed = 0;

inline void look_over(void* freed) noexcept {
  if (freed == nullptr || looked_for.empty()) return;
  const std::string_view text = looked_for;
  if (memmem(freed, malloc_usable_size(freed), text.data(), text.size()) != nullptr) {
    ++found_in_freed;
  }
}

// Searches while it exists. No other memory that is freed meanwhile may contain the text.
class LookForSecret {
 public:
  explicit LookForSecret(std::string_view text) {
    looked_for = text;
    found_in_freed = 0;
  }
  ~LookForSecret() { looked_for = {}; }
  // The number of freed blocks that contained it.
  unsigned found() const { return found_in_freed; }
};

}  // namespace sheaf::protocol
