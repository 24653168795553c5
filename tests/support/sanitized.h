#pragma once

// What a sanitizer changes for a test: it makes code several times slower. These two factors, and
// no test, decide what that means for limits of time and for amounts of work.

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

// A limit of time that the machine sets, not the protocol: `limit * slowness`.
inline constexpr int slowness = sanitized ? 10 : 1;

// How much work a test does that usually does `usual` of it: repetitions, items, clients.
template <class Number>
constexpr Number share_of(Number usual) {
  return sanitized ? (usual + 4) / 5 : usual;
}

}  // namespace sheaf::test
