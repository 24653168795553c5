#pragma once

// SharedInput: the memory into which all connections of a lane read, one after the other. It
// belongs to a connection only from a read until everything that can be parsed has been; the
// connection then copies the rest, mostly nothing, into memory of its own (InputBuffer::settle()).
//
// It grows while reads fill it. What one period did not need is given back at the first read of the
// next one.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "base/clock.h"
#include "base/poison.h"

namespace sheaf::protocol {

class SharedInput {
 public:
  static constexpr std::size_t least = 4 * 1024;
  static constexpr std::size_t most = 64 * 1024;
  static constexpr std::chrono::seconds period{10};

  // Empty while a connection has it, or if there is no memory.
  std::span<std::byte> space() noexcept {
    if (lent_) return {};
    if (size_ != wanted_) resize();
    unpoison(bytes_.get(), size_);
    return {bytes_.get(), size_};
  }
  // A connection has read `size` bytes in all, and has it until give_back().
  void lend(std::size_t size, Now now) noexcept {
    lent_ = true;
    if (size == size_) wanted_ = std::min(most, 2 * size_);
    if (now.mono >= period_end_) {
      if (largest_ < size_ / 2) wanted_ = std::max(least, std::bit_ceil(largest_ + 1));
      period_end_ = now.mono + period;
      largest_ = 0;
    }
    largest_ = std::max(largest_, size);
  }
  // Views of its bytes are no longer valid.
  void give_back() noexcept {
    lent_ = false;
    poison(bytes_.get(), size_);
  }
  const std::byte* bytes() const noexcept { return bytes_.get(); }
  std::size_t size() const noexcept { return size_; }

 private:
  void resize() noexcept {
    std::unique_ptr<std::byte[]> made(new (std::nothrow) std::byte[wanted_]);
    if (made == nullptr) return;
    bytes_ = std::move(made);
    size_ = wanted_;
  }

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::size_t wanted_ = least;
  std::size_t largest_ = 0;  // read at once in this period
  Deadline period_end_{0};
  bool lent_ = false;
};

}  // namespace sheaf::protocol
