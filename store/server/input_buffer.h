#pragma once

// Bytes received and not yet parsed, in one piece. Grows with what has really arrived, never by
// what a length field claims, and never above its limit.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/bytes.h"

namespace sheaf::store::server {

class InputBuffer {
 public:
  explicit InputBuffer(std::size_t limit) : limit_(limit) {}

  // Room for the next bytes; empty only when `limit` unparsed bytes are waiting. Views into the
  // buffer end here.
  std::span<std::byte> space() {
    if (begin_ == end_ && capacity_ > kKeep) *this = InputBuffer(limit_);
    if (begin_ > 0 && capacity_ - end_ < kSmall) compact();
    if (capacity_ - end_ < kSmall && capacity_ < limit_) grow();
    return {bytes_.get() + end_, capacity_ - end_};
  }
  void added(std::size_t size) noexcept { end_ += std::min(size, capacity_ - end_); }

  std::string_view data() const noexcept { return as_text({bytes_.get() + begin_, end_ - begin_}); }
  void consumed(std::size_t size) noexcept { begin_ += std::min(size, end_ - begin_); }
  std::size_t capacity() const noexcept { return capacity_; }

 private:
  static constexpr std::size_t kSmall = 4096;       // a read below this size is not worth its call
  static constexpr std::size_t kKeep = 256 * 1024;  // what an idle connection may hold on to

  void compact() noexcept {
    std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  void grow() {
    const std::size_t wanted = std::min(limit_, std::max(2 * capacity_, 2 * kSmall));
    auto larger = std::make_unique_for_overwrite<std::byte[]>(wanted);
    if (end_ > 0) std::memcpy(larger.get(), bytes_.get(), end_);
    bytes_ = std::move(larger);
    capacity_ = wanted;
  }

  std::size_t limit_;
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace sheaf::store::server
