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
  kept,       // its new home already had a value
  absent,     // there was nothing to copy
  overtaken,  // written or removed meanwhile; not copied
  stale,      // the copy was not the present value; it was removed
  right,      // the copy was checked and is right
  too_large   // the servers can never hold it; left out
};
inline constexpr std::size_t key_ends = 7;

// What one pass over the keys did.
struct PassCounts {
  std::array<std::uint64_t, key_ends> ends{};
  std::uint64_t refused = 0;    // by a server, or permanently by the client
  std::uint64_t elsewhere = 0;  // not among the keys: on a server that does not own them
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

// How often programs read a fleet in a stage; unknown without a server's counters, or if it
// restarted.
struct StageReads {
  std::uint64_t gets = 0;
  std::uint64_t hits = 0;
};

}  // namespace sheaf::cli
