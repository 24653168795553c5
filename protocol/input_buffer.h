#pragma once

// InputBuffer: bytes received and not yet parsed, in one piece. Its memory follows what has
// actually arrived (at most twice that, and 64 KiB), never what a length field claims, and never
// exceeds its limit.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace sheaf::protocol {

class InputBuffer {
 public:
  static constexpr std::size_t usual_first = 32 * 1024;

  // The first space() allocates `first` bytes, at most `limit`.
  explicit InputBuffer(std::size_t limit, std::size_t first = usual_first) noexcept
      : limit_(limit), first_(first) {}

  // Room for the next bytes; empty when `limit` unparsed bytes wait, or if there is no memory.
  // Invalidates views into the buffer.
  std::span<std::byte> space() noexcept {
    if (begin_ == end_) {
      begin_ = end_ = 0;
      if (capacity_ > kept_when_idle) release();
    }
    if (begin_ > 0 && capacity_ - end_ < first_ / 2) compact();
    if (capacity_ - end_ < smallest_read && capacity_ < limit_) grow();
    return {bytes_.get() + end_, capacity_ - end_};
  }
  void added(std::size_t size) noexcept {
    end_ += std::min(size, capacity_ - end_);
    pass_over();
  }

  std::string_view data() const noexcept { return as_text({bytes_.get() + begin_, end_ - begin_}); }
  void consumed(std::size_t size) noexcept {
    begin_ += std::min(size, end_ - begin_);
    parsed_ = true;
  }
  // True once anything was consumed.
  bool parsed() const noexcept { return parsed_; }
  // Skips the next `size` bytes, including those that have not arrived yet.
  void skip(std::size_t size) noexcept {
    skip_ += size;
    pass_over();
  }
  // True while bytes to be skipped have not arrived. Then data() is empty.
  bool skipping() const noexcept { return skip_ > 0; }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t limit() const noexcept { return limit_; }
  // True if space() was empty because there is no memory.
  bool out_of_memory() const noexcept { return end_ == capacity_ && capacity_ < limit_; }

 private:
  static constexpr std::size_t smallest_read = 4 * 1024;     // a smaller read is not worth its call
  static constexpr std::size_t kept_when_idle = 256 * 1024;  // what an idle connection may hold

  void pass_over() noexcept {
    const std::size_t here = std::min(skip_, end_ - begin_);
    begin_ += here;
    skip_ -= here;
  }
  void release() noexcept {
    bytes_.reset();
    capacity_ = 0;
  }
  void compact() noexcept {
    std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  void grow() noexcept {
    const std::size_t wanted = std::min(limit_, std::max(2 * capacity_, first_));
    std::unique_ptr<std::byte[]> larger(new (std::nothrow) std::byte[wanted]);
    if (larger == nullptr) return;
    if (end_ > begin_) std::memcpy(larger.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    bytes_ = std::move(larger);
    capacity_ = wanted;
  }

  bool parsed_ = false;
  std::size_t limit_;
  std::size_t first_;
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t skip_ = 0;
};

}  // namespace sheaf::protocol
