#pragma once

// OutputQueue: what a session wants to write, as frames of owned bytes, each with at most one
// borrowed span (a large value that is not copied). Small neighbours are contiguous, so that one
// write carries many.
//
// A frame that has not begun can be erased: then nothing of it leaves. A frame that has begun
// leaves completely, or the connection ends.
//
// A frame may hold a secret. Its bytes are wiped once it has left, or when the queue is cleared or
// destroyed. The queue leaves no copy of them when it reallocates.
//
// Writes may be limited, for peers that read an encrypted record at a time: then a frame leaves
// whole in one write, unless it is larger than the limit, and nothing follows its end in that case.
//
// A closed gate after a frame holds back later frames until one that must leave before them is
// there.
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
  OutputQueue(OutputQueue&&) = default;  // the source may only be destroyed afterwards
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  using FrameId = std::uint64_t;  // ascending; never reused, except that of an erased last frame
  enum class Progress : std::uint8_t {
    waiting,  // no byte has left
    begun,    // some have
    written   // all have
  };

  // A value up to this size is copied; a larger one is written from its own memory.
  static constexpr std::size_t copy_limit = 8 * 1024;

  // Makes room for one more frame of `owned` bytes around a value of `value` bytes. May throw
  // std::bad_alloc; building the frame does not.
  void reserve(std::size_t owned, std::size_t value = 0);

  // Building a frame: append owned bytes to buffer(); call put_value() or borrow() at most once,
  // where the value belongs; then end().
  std::string& buffer() noexcept { return bytes_; }
  void put_value(std::string_view value);
  void borrow(std::string_view bytes, std::size_t after = 0);  // before the last `after` bytes
  FrameId end();
  // The same for a frame with a secret, which is copied: reserve() has made room for all of it.
  FrameId end_secret();

  // From now on parts() has at most so many bytes. They end where a frame ends, or are part of one
  // frame.
  void limit_writes(std::size_t bytes) noexcept { write_limit_ = bytes; }
  // The next bytes to write, in a few pieces; valid until the next call that changes the queue.
  std::span<const Bytes> parts();
  // The kernel took the first `size` of these bytes.
  void taken(std::size_t size);

  // The gate. Frames after the current last one wait, until that one is erased or the gate opens.
  void close_gate() noexcept;
  void open_gate() noexcept { gate_ = no_gate; }
  // Opens the gate, and sends the frame just built ahead of those that wait. Returns its new id.
  FrameId pass_gate() noexcept;

  Progress progress(FrameId id) const noexcept;
  // True while the frame has begun and its borrowed bytes are not all written.
  bool needs_borrowed(FrameId id) const noexcept;
  // Removes a waiting frame.
  void erase(FrameId id);
  void clear() noexcept;

  bool empty() const noexcept { return pending_ == 0; }
  std::size_t size() const noexcept { return pending_; }
  // True if a frame has begun and is not finished: only its rest may follow.
  bool half_written() const noexcept { return front_taken_ > 0; }
  // Gives back the memory of an empty queue.
  void trim() noexcept;
  // Capacity for owned bytes.
  std::size_t capacity() const noexcept { return bytes_.capacity(); }

 private:
  static constexpr std::size_t few_parts = 4;  // without borrowed bytes there are hardly more
  static constexpr std::size_t max_parts = 64;
  static constexpr FrameId no_gate = ~FrameId{0};
  static constexpr std::size_t no_limit = ~std::size_t{0};

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
  void drop_written();
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
  std::size_t write_limit_ = no_limit;
  std::size_t erased_frames_ = 0;
  std::size_t erased_bytes_ = 0;
  bool has_secrets_ = false;  // true if bytes_ holds secrets, or has since it was last empty
  FrameId next_ = 1;
  FrameId gate_ = no_gate;  // frames above this id wait; no frame has it
  std::array<Bytes, few_parts> few_parts_;
  std::vector<Bytes> parts_;  // empty until a large value is written
};

}  // namespace sheaf::protocol
