#pragma once

// A secret as a test may have it lying about: each byte turned around. The same again gives it
// back.

namespace sheaf::test {

inline char coded(char c) noexcept { return static_cast<char>(c ^ 0x05); }

}  // namespace sheaf::test
