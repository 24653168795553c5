#pragma once

// Bytes to send, in one piece: the same bytes again until they are taken.
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
  // Where packets are appended. Spans given out by poll() end here.
  std::string& sink() {
    if (taken_ > kCompactAbove && taken_ > bytes_.size() / 2) {
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

  void take(std::size_t count) {
    taken_ += std::min(count, size());
    if (size() > 0) return;
    taken_ = 0;
    bytes_.clear();
    if (bytes_.capacity() > kKeep) bytes_.shrink_to_fit();
  }

 private:
  static constexpr std::size_t kCompactAbove = 64 * 1024;
  static constexpr std::size_t kKeep = 256 * 1024;  // what an idle connection may hold on to

  std::string bytes_;
  std::size_t taken_ = 0;
  std::array<Bytes, 1> piece_{};
};

}  // namespace sheaf::store::server
