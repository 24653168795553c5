#pragma once

// Carrier: does the same with each of many keys, by several threads.
//
// Thread rule: one thread; `act` and `on_stale` run on others.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include <sheaf/result.h>

#include "cli/migrate/key_spool.h"

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

struct PassCounts {
  std::array<std::uint64_t, key_ends> ends{};
  std::uint64_t refused = 0;    // by a server, or by the client for good
  std::uint64_t elsewhere = 0;  // not among the keys: on a server where they do not belong
  std::uint64_t failed = 0;     // after all rounds
  std::string first_error{};
  std::string first_refusal{};
  std::chrono::nanoseconds elapsed{0};

  std::uint64_t of(KeyEnd end) const noexcept { return ends[static_cast<std::size_t>(end)]; }
  std::uint64_t keys() const noexcept;
  bool whole() const noexcept { return failed == 0 && refused == 0; }
};

class Carrier {
 public:
  using Act = std::function<Result<KeyEnd>(const std::string& key)>;
  using OnKey = std::function<void(const std::string& key)>;

  explicit Carrier(unsigned callers) : callers_(callers) {}

  // What fails is tried again, in three rounds, but not what is refused. An interruption ends it:
  // what is left counts as failed. `on_stale` hears of each KeyEnd::stale, one at a time.
  PassCounts run(KeySpool& keys, const Act& act, const OnKey& on_stale);

 private:
  void round(KeySpool& keys, KeySpool& again, const Act& act, const OnKey& on_stale,
             PassCounts& sum);

  const unsigned callers_;
};

}  // namespace sheaf::cli
