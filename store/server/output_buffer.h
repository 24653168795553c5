#pragma once

// Bytes to send, in one piece. poll() returns the same bytes until take() is called.
//
// Bytes may have to wait: those behind the point of hold(). seal() notes how far they are now, and
// release_sealed() lets them go up to there.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
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
    if (ready() == 0) return {};
    piece_[0] = as_bytes(std::string_view(bytes_).substr(taken_, ready()));
    return piece_;
  }

  bool holding() const noexcept { return open_.has_value(); }
  void hold() noexcept {
    if (!open_) open_ = size();
  }
  void seal() noexcept { sealed_ = size(); }
  void release_sealed() noexcept {
    if (open_) open_ = std::max(*open_, sealed_);
    if (open_ == size()) open_.reset();
  }
  void release() noexcept { open_.reset(); }

  // True if the remaining bytes may begin inside a packet whose start was taken.
  bool cut() const noexcept { return taken_ > 0; }
  void drop() {
    release();
    take(size());
  }

  void take(std::size_t count) {
    count = std::min(count, ready());
    taken_ += count;
    sealed_ -= std::min(count, sealed_);
    if (open_) *open_ -= count;
    if (size() > 0) return;
    taken_ = 0;
    bytes_.clear();
    if (bytes_.capacity() > kept_capacity) bytes_.shrink_to_fit();
  }

 private:
  static constexpr std::size_t compact_above = 64 * 1024;
  static constexpr std::size_t kept_capacity =
      256 * 1024;  // the most that an idle connection keeps

  std::size_t ready() const noexcept { return open_.value_or(size()); }

  std::string bytes_;
  std::size_t taken_ = 0;
  std::optional<std::size_t> open_;  // so many bytes may be taken; none: all
  std::size_t sealed_ = 0;           // so many bytes were there at the last seal()
  std::array<Bytes, 1> piece_{};
};

}  // namespace sheaf::store::server
