#pragma once

// An invariant that stays checked in release builds. Ends the process with the broken condition:
// a client that has lost track of itself must not hand out values.

namespace sheaf {

[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace sheaf

#define SHEAF_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::sheaf::check_failed(#condition, __FILE__, __LINE__))
