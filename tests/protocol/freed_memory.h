#pragma once

// Whether a secret lies in memory that is given back. Works in programs whose allocation functions
// are those of scarce_memory.h.

#include <malloc.h>
#include <string.h>  // memmem is no function of <cstring>

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

// Looks while it lives. The text is to be found nowhere else in memory that is freed meanwhile.
class LookForSecret {
 public:
  explicit LookForSecret(std::string_view text) {
    looked_for = text;
    found_in_freed = 0;
  }
  ~LookForSecret() { looked_for = {}; }
  // In how many blocks it was.
  unsigned found() const { return found_in_freed; }
};

}  // namespace sheaf::protocol
