#pragma once

// Bounds what is in flight to a node, in requests and in bytes. A request larger than a bound is
// admitted when it is alone, so that a big value or a request with many keys can always be sent.
//
// Pure: no socket, clock, entropy, thread or callback.
// Thread rule: one thread at a time.

#include <cstddef>
#include <cstdint>

namespace sheaf::node {

class Window {
 public:
  Window(std::uint64_t max_count, std::uint64_t max_bytes) noexcept
      : max_count_(max_count), max_bytes_(max_bytes) {}

  // Takes room for `count` requests of `bytes` together. Returns false, and takes nothing, if they
  // do not fit.
  bool admit(std::size_t bytes, std::uint32_t count = 1) noexcept;
  // True if admit() would succeed.
  bool fits(std::size_t bytes, std::uint32_t count = 1) const noexcept;
  // Gives back what admit() took.
  void release(std::size_t bytes, std::uint32_t count = 1) noexcept;
  // Sets new bounds. Requests in flight stay, and nothing is admitted until it fits again.
  void set_bounds(std::uint64_t max_count, std::uint64_t max_bytes) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint64_t max_count() const noexcept { return max_count_; }
  std::uint64_t max_bytes() const noexcept { return max_bytes_; }

 private:
  std::uint64_t max_count_;
  std::uint64_t max_bytes_;
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace sheaf::node
