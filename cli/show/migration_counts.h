#pragma once

// What a migration counts and reports.
//
// Thread rule: plain data.

#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>

namespace sheaf::cli {

// How one key ended.
enum class KeyEnd : std::uint8_t {
  copied,
  kept,       // its new home had a value already
  absent,     // there was nothing to copy
  overtaken,  // written or removed meanwhile; it is not copied
  stale,      // a copy that was not the present value; it is removed
  right,      // a copy that was checked
  too_large   // it can never be held by the servers; it is left out
};
inline constexpr std::size_t key_ends = 7;

// What one pass over the keys did.
struct PassCounts {
  std::array<std::uint64_t, key_ends> ends{};
  std::uint64_t refused = 0;    // by a server, or by the client for good
  std::uint64_t elsewhere = 0;  // not among the keys: on a server where they do not belong
  std::uint64_t failed = 0;     // after all rounds
  std::string first_error{};
  std::string first_refusal{};
  std::chrono::nanoseconds elapsed{0};

  std::uint64_t of(KeyEnd end) const noexcept { return ends[static_cast<std::size_t>(end)]; }
  std::uint64_t keys() const noexcept {
    return std::accumulate(ends.begin(), ends.end(), failed + refused);
  }
  bool whole() const noexcept { return failed == 0 && refused == 0; }
};

// How often programs read one fleet in one stage. A stage has none if a server did not report its
// counters or restarted.
struct StageReads {
  std::uint64_t gets = 0;
  std::uint64_t hits = 0;
};

}  // namespace sheaf::cli
