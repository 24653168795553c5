#pragma once

// Bytes to send, in one piece. poll() returns the same bytes until take() is called.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "base/bytes.h"

namespace sheaf::store::server {

class OutputBuffer {
 public:
  // Packets are appended to this string. It invalidates what poll() returned.
  std::string& sink() {
    if (taken_ > compact_above && taken_ > bytes_.size() / 2) {
      bytes_.erase(0, taken_);
      taken_ = 0;
    }
    return bytes_;
  }

  std::size_t size() const noexcept { return bytes_.size() - taken_; }

  std::span<const Bytes> poll() noexcept {
    if (size() == 0) return {};
    piece_[0] = as_bytes(std::string_view(bytes_).substr(taken_));
    return piece_;
  }

  // True if the remaining bytes may begin inside a packet whose start was taken.
  bool cut() const noexcept { return taken_ > 0; }
  void drop() { take(size()); }

  void take(std::size_t count) {
    taken_ += std::min(count, size());
    if (size() > 0) return;
    taken_ = 0;
    bytes_.clear();
    if (bytes_.capacity() > kept_capacity) bytes_.shrink_to_fit();
  }

 private:
  static constexpr std::size_t compact_above = 64 * 1024;
  static constexpr std::size_t kept_capacity =
      256 * 1024;  // the most that an idle connection keeps

  std::string bytes_;
  std::size_t taken_ = 0;
  std::array<Bytes, 1> piece_{};
};

}  // namespace sheaf::store::server
