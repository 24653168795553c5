#pragma once

// True if this program runs under a sanitizer, which makes everything several times slower.

namespace sheaf::test {

#if defined(__SANITIZE_ADDRESS__)
#define SHEAF_TEST_ASAN
#elif defined(__SANITIZE_THREAD__)
#define SHEAF_TEST_TSAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHEAF_TEST_ASAN
#elif __has_feature(thread_sanitizer)
#define SHEAF_TEST_TSAN
#endif
#endif

#ifdef SHEAF_TEST_ASAN
inline constexpr bool address_sanitized = true;
#else
inline constexpr bool address_sanitized = false;
#endif
#ifdef SHEAF_TEST_TSAN
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif
inline constexpr bool sanitized = address_sanitized || thread_sanitized;

}  // namespace sheaf::test
