#pragma once

// OutputQueue: what a session wants to write, as frames of owned bytes, each with at most one
// borrowed span (a large value that is not copied). Small neighbours lie side by side, so that one
// write carries many.
//
// A frame that has not begun can be erased: then nothing of it leaves. One that has begun leaves
// whole, or the connection ends.
//
// A frame may hold a secret. Its bytes are wiped once it has left, or when the queue is cleared or
// ends, and no copy of them stays behind where the queue makes room.
//
// A gate after a frame keeps back those that come after it, until one that is to leave before them
// is there.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sheaf::protocol {

class OutputQueue {
 public:
  OutputQueue() = default;
  ~OutputQueue() { clear(); }
  OutputQueue(OutputQueue&&) = default;  // the other one may only be destroyed then
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  using FrameId =
      std::uint64_t;  // ascending; never used again, except that of an erased last frame
  enum class Progress : std::uint8_t {
    waiting,  // not a byte has left
    begun,    // some have
    written   // all have
  };

  // A value up to this size is copied; a larger one is written from where it lies.
  static constexpr std::size_t copy_limit = 8 * 1024;

  // Room for one more frame of `owned` bytes around a value of `value` bytes. May throw
  // std::bad_alloc; building it does not.
  void reserve(std::size_t owned, std::size_t value = 0);

  // Building a frame: append owned bytes to buffer(); call put_value() or borrow() at most once,
  // where the value belongs; then end().
  std::string& buffer() noexcept { return bytes_; }
  void put_value(std::string_view value);
  void borrow(std::string_view bytes);
  FrameId end();
  // The same, of a frame with a secret, which is copied: reserve() has made room for all of it.
  FrameId end_secret();

  // The next bytes to write, in a few pieces; valid until the next call that changes.
  std::span<const Bytes> parts();
  // The first `size` bytes of them were taken.
  void taken(std::size_t size);

  // The gate. Frames after the last one wait, until that is erased or the gate opens.
  void close_gate() noexcept;
  void open_gate() noexcept { gate_ = no_gate; }
  // Opens it, and what was just built leaves before the frames that wait. Its new id.
  FrameId pass_gate() noexcept;

  Progress progress(FrameId id) const noexcept;
  // True while the frame has begun and its borrowed bytes are not all written.
  bool needs_borrowed(FrameId id) const noexcept;
  // Takes a waiting frame out.
  void erase(FrameId id);
  void clear() noexcept;

  bool empty() const noexcept { return pending_ == 0; }
  std::size_t size() const noexcept { return pending_; }
  // True if a frame has begun and is not finished: nothing but its rest may follow.
  bool half_written() const noexcept { return front_taken_ > 0; }
  // Of owned bytes, for tests of bounds.
  std::size_t capacity() const noexcept { return bytes_.capacity(); }

 private:
  static constexpr std::size_t max_parts = 64;
  static constexpr FrameId no_gate = ~FrameId{0};

  struct Frame {
    FrameId id = 0;
    std::size_t before = 0;  // owned bytes before the borrowed ones
    std::string_view borrowed;
    std::size_t after = 0;  // owned bytes after them
    bool erased = false;
    bool secret = false;
    std::size_t owned() const noexcept { return before + after; }
    std::size_t size() const noexcept { return before + borrowed.size() + after; }
  };

  const Frame* find(FrameId id) const noexcept;
  void pop_front() noexcept;
  void trim();
  void compact();
  void grow(std::size_t capacity);
  void wipe_rest();

  std::string bytes_;           // owned bytes of frames_[first_..], and of the frame being built
  std::size_t begin_ = 0;       // where those of frames_[first_] begin
  std::size_t built_from_ = 0;  // where the frame being built begins
  std::size_t borrow_at_ = 0;   // and where its borrowed bytes belong
  std::string_view borrowed_;
  std::vector<Frame> frames_;
  std::size_t first_ = 0;
  std::size_t front_taken_ = 0;  // bytes of frames_[first_] that have left
  std::size_t pending_ = 0;
  std::size_t erased_frames_ = 0;
  std::size_t erased_bytes_ = 0;
  bool has_secrets_ = false;  // or had, since bytes_ was last empty
  FrameId next_ = 1;
  FrameId gate_ = no_gate;  // no frame has this id; those above it wait
  std::array<Bytes, max_parts> parts_;
};

}  // namespace sheaf::protocol
