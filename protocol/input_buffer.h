#pragma once

// InputBuffer: bytes received and not yet parsed, in one piece. Its memory follows what has
// actually arrived (at most twice that, and 64 KiB), never what a length field claims, and never
// exceeds its limit.
//
// It may read through memory that a lane's connections share (share()). Then it takes memory of its
// own only for what settle() finds unparsed, so a connection that gets whole messages needs none.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "protocol/shared_input.h"

namespace sheaf::protocol {

class InputBuffer {
 public:
  static constexpr std::size_t usual_first = 32 * 1024;

  // The first space() allocates `first` bytes, at most `limit`.
  explicit InputBuffer(std::size_t limit, std::size_t first = usual_first) noexcept
      : limit_(limit), first_(first) {}
  ~InputBuffer() {
    if (in_shared_) shared_->give_back();
  }
  InputBuffer(const InputBuffer&) = delete;
  InputBuffer& operator=(const InputBuffer&) = delete;

  // From now on it reads through `shared`, which must outlive it, whenever that is free and what is
  // unparsed takes little of it.
  void share(SharedInput& shared) noexcept {
    shared_ = &shared;
    first_ = smallest_read;
  }

  // Room for the next bytes; empty when `limit` unparsed bytes wait, or if there is no memory.
  // Invalidates views into the buffer.
  std::span<std::byte> space() noexcept {
    if (!settle()) return {};
    if (begin_ == end_) {
      begin_ = end_ = 0;
      if (capacity_ > kept_when_idle) release();
    }
    if (const auto shared = shared_space(); !shared.empty()) return shared;
    if (begin_ > 0 && capacity_ - end_ < first_ / 2) compact();
    if (capacity_ - end_ < smallest_read && capacity_ < limit_) grow();
    return {bytes_.get() + end_, capacity_ - end_};
  }
  // `size` bytes were written into the latest space(). With shared memory, settle() must follow
  // before another connection reads.
  void added(std::size_t size, Now now = {}) noexcept {
    if (std::exchange(offered_, false)) {
      in_shared_ = true;
      end_ = std::min(end_ - begin_ + size, shared_->size());
      begin_ = 0;
      shared_->lend(end_, now);
    } else {
      end_ += std::min(size, capacity_ - end_);
    }
    pass_over();
  }
  // Moves what is left in shared memory to memory of its own. Invalidates views into the buffer.
  // False if there is no memory: then the bytes are lost.
  bool settle() noexcept {
    if (!in_shared_) return true;
    const std::string_view left = data();
    in_shared_ = false;
    begin_ = end_ = 0;
    if (capacity_ < left.size()) reallocate(std::bit_ceil(std::max(left.size(), least_own)), {});
    const bool fits = left.size() <= capacity_;
    if (fits && !left.empty()) {
      std::memcpy(bytes_.get(), left.data(), left.size());
      end_ = left.size();
    }
    shared_->give_back();
    return fits;
  }
  // Gives back memory of its own that holds nothing.
  void trim() noexcept {
    if (begin_ == end_ && !in_shared_) release();
  }

  std::string_view data() const noexcept {
    const std::byte* const bytes = in_shared_ ? shared_->bytes() : bytes_.get();
    return as_text({bytes + begin_, end_ - begin_});
  }
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
  // The size of its own memory.
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t limit() const noexcept { return limit_; }
  bool shares() const noexcept { return shared_ != nullptr; }
  // True if space() was empty because there is no memory.
  bool out_of_memory() const noexcept {
    return !offered_ && end_ == capacity_ && capacity_ < limit_;
  }

 private:
  static constexpr std::size_t smallest_read = 4 * 1024;     // a smaller read is not worth its call
  static constexpr std::size_t kept_when_idle = 256 * 1024;  // what an idle connection may hold
  static constexpr std::size_t least_own = 128;

  // Empty if memory of its own is larger, which large messages have made it, or if much is
  // unparsed. What is unparsed is copied in front; it counts there only if something is read.
  std::span<std::byte> shared_space() noexcept {
    offered_ = false;
    if (shared_ == nullptr) return {};
    const std::size_t unparsed = end_ - begin_;
    const auto space = shared_->space();
    if (space.empty() || space.size() < capacity_ || space.size() / 4 < unparsed) return {};
    if (limit_ < space.size()) return {};
    if (unparsed > 0) std::memcpy(space.data(), bytes_.get() + begin_, unparsed);
    offered_ = true;
    return space.subspan(unparsed);
  }
  void pass_over() noexcept {
    const std::size_t here = std::min(skip_, end_ - begin_);
    begin_ += here;
    skip_ -= here;
  }
  void release() noexcept {
    bytes_.reset();
    begin_ = end_ = capacity_ = 0;
  }
  void compact() noexcept {
    std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  void grow() noexcept {
    const std::size_t unparsed = end_ - begin_;
    const std::size_t wanted = std::max({2 * capacity_, first_, unparsed + smallest_read});
    reallocate(std::min(limit_, wanted), data());
  }
  // Keeps `data`. Changes nothing if there is no memory.
  void reallocate(std::size_t wanted, std::string_view data) noexcept {
    std::unique_ptr<std::byte[]> made(new (std::nothrow) std::byte[wanted]);
    if (made == nullptr) return;
    if (!data.empty()) std::memcpy(made.get(), data.data(), data.size());
    end_ -= begin_;
    begin_ = 0;
    bytes_ = std::move(made);
    capacity_ = wanted;
  }

  SharedInput* shared_ = nullptr;
  bool parsed_ = false;
  bool offered_ = false;    // the latest space() was shared
  bool in_shared_ = false;  // until settle() the bytes are there
  std::size_t limit_;
  std::size_t first_;
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t skip_ = 0;
};

}  // namespace sheaf::protocol
