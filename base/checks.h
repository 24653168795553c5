#pragma once

// An invariant that release builds check, too. If it is broken, it prints the condition and ends
// the process: a client that has lost track of itself must not return values.

namespace sheaf {

[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace sheaf

#define SHEAF_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::sheaf::check_failed(#condition, __FILE__, __LINE__))
