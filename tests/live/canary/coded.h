#pragma once

// A secret in a form that a test may keep in memory: each byte is XORed with a constant. A second
// call restores it.

namespace sheaf::test {

inline char coded(char c) noexcept { return static_cast<char>(c ^ 0x05); }

}  // namespace sheaf::test
