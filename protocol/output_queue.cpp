// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/output_queue.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "base/secret.h"

namespace sheaf::protocol {
namespace {

constexpr std::size_t kept_when_idle = 256 * 1024;  // what an idle connection may keep
constexpr std::size_t slack_bytes = 64 * 1024;      // waste below this is not worth a copy
constexpr std::size_t slack_frames = 64;

}  // namespace

void OutputQueue::reserve(std::size_t owned, std::size_t value) {
  const std::size_t bytes = owned + (value <= copy_limit ? value : 0);
  if (bytes_.capacity() - bytes_.size() < bytes) {
    grow(std::max(bytes_.size() + bytes, 2 * bytes_.capacity()));
  }
  if (frames_.size() == frames_.capacity()) frames_.reserve(2 * frames_.capacity() + 2);
  if (value > copy_limit && parts_.empty()) parts_.resize(max_parts);
}

void OutputQueue::grow(std::size_t capacity) {
  if (!has_secrets_) return bytes_.reserve(capacity);
  std::string larger;
  larger.reserve(capacity);
  larger.append(bytes_);
  larger.swap(bytes_);
  wipe(larger);
}

// Wipes the bytes past the end, from which some have been moved away.
void OutputQueue::wipe_rest() {
  if (!has_secrets_) return;
  const std::size_t size = bytes_.size();
  bytes_.resize(bytes_.capacity());
  wipe(std::span(bytes_).subspan(size));
  bytes_.resize(size);
}

void OutputQueue::borrow(std::string_view bytes, std::size_t after) {
  SHEAF_CHECK(borrowed_.empty() && after <= bytes_.size() - built_from_);
  borrowed_ = bytes;
  borrow_at_ = bytes_.size() - after;
}

void OutputQueue::put_value(std::string_view value) {
  if (value.size() <= copy_limit) {
    bytes_.append(value);
  } else {
    borrow(value);
  }
}

OutputQueue::FrameId OutputQueue::end() {
  Frame frame;
  frame.id = next_++;
  frame.borrowed = borrowed_;
  const std::size_t split = borrowed_.empty() ? bytes_.size() : borrow_at_;
  frame.before = split - built_from_;
  frame.after = bytes_.size() - split;
  built_from_ = bytes_.size();
  borrowed_ = {};
  pending_ += frame.size();
  frames_.push_back(frame);
  return frame.id;
}

OutputQueue::FrameId OutputQueue::end_secret() {
  SHEAF_CHECK(borrowed_.empty());
  const FrameId id = end();
  frames_.back().secret = true;
  has_secrets_ = true;
  return id;
}

std::span<const Bytes> OutputQueue::parts() {
  if (empty()) return {};
  const std::span<Bytes> parts = parts_.empty() ? std::span<Bytes>(few_parts_) : parts_;
  std::size_t count = 0;
  std::size_t at = begin_;
  const auto add = [&](const char* data, std::size_t size) {
    if (size == 0 || count > parts.size()) return;
    const Bytes part = as_bytes({data, size});
    if (count > 0 && parts[count - 1].data() + parts[count - 1].size() == part.data()) {
      parts[count - 1] = {parts[count - 1].data(), parts[count - 1].size() + size};
    } else if (count < parts.size()) {
      parts[count++] = part;
    } else {
      ++count;  // full: later bytes must not be appended to the last part
    }
  };
  std::size_t skip = front_taken_;
  std::size_t room = write_limit_;
  const auto add_rest = [&](const char* data, std::size_t size) {
    const std::size_t skipped = std::min(skip, size);
    skip -= skipped;
    const std::size_t rest = std::min(size - skipped, room);
    room -= rest;
    add(data + skipped, rest);
  };
  for (std::size_t i = first_; i < frames_.size() && count <= parts.size(); ++i) {
    const Frame& frame = frames_[i];
    if (frame.id > gate_) break;
    if (!frame.erased) {
      const bool whole = frame.size() - skip <= room;
      if (!whole && room < write_limit_) break;
      add_rest(bytes_.data() + at, frame.before);
      add_rest(frame.borrowed.data(), frame.borrowed.size());
      add_rest(bytes_.data() + at + frame.before, frame.after);
      if (write_limit_ != no_limit && (!whole || half_written())) break;
    }
    at += frame.owned();
  }
  return {parts.data(), std::min(count, parts.size())};
}

void OutputQueue::taken(std::size_t size) {
  SHEAF_CHECK(size <= pending_);
  pending_ -= size;
  while (first_ < frames_.size()) {
    const Frame& front = frames_[first_];
    if (!front.erased) {
      const std::size_t part = std::min(size, front.size() - front_taken_);
      front_taken_ += part;
      size -= part;
      if (front_taken_ < front.size()) break;
    }
    pop_front();
  }
  drop_written();
}

void OutputQueue::pop_front() noexcept {
  const Frame& front = frames_[first_];
  if (front.erased) {
    --erased_frames_;
    erased_bytes_ -= front.owned();
  }
  if (front.secret) wipe(std::span(bytes_).subspan(begin_, front.owned()));
  begin_ += front.owned();
  front_taken_ = 0;
  ++first_;
}

// Frees the space of what has left; copies only if that is less than what it frees.
void OutputQueue::drop_written() {
  if (first_ == frames_.size()) {
    frames_.clear();
    first_ = 0;
  } else if (first_ >= slack_frames && first_ > frames_.size() / 2) {
    frames_.erase(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  const bool nothing_left = begin_ == bytes_.size();
  if (nothing_left && std::exchange(has_secrets_, false)) {
    wipe(bytes_);
    built_from_ = begin_ = 0;
  }
  if (nothing_left && bytes_.capacity() > kept_when_idle) std::string().swap(bytes_);
  if (nothing_left || (begin_ >= slack_bytes && begin_ > bytes_.size() / 2)) {
    bytes_.erase(0, begin_);
    built_from_ -= begin_;
    begin_ = 0;
    wipe_rest();
  }
}

void OutputQueue::trim() noexcept {
  if (first_ != frames_.size() || !bytes_.empty()) return;
  std::string().swap(bytes_);
  std::vector<Frame>().swap(frames_);
  std::vector<Bytes>().swap(parts_);
  first_ = 0;
}

const OutputQueue::Frame* OutputQueue::find(FrameId id) const noexcept {
  const auto from = frames_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto found = std::lower_bound(from, frames_.end(), id,
                                      [](const Frame& frame, FrameId at) { return frame.id < at; });
  return found != frames_.end() && found->id == id ? &*found : nullptr;
}

void OutputQueue::close_gate() noexcept { gate_ = next_++; }

OutputQueue::FrameId OutputQueue::pass_gate() noexcept {
  SHEAF_CHECK(gate_ != no_gate && !frames_.empty() && built_from_ == bytes_.size());
  auto place = frames_.end() - 1;
  std::size_t at = bytes_.size() - place->owned();
  const std::size_t from = at;
  const auto first = frames_.begin() + static_cast<std::ptrdiff_t>(first_);
  while (place != first && (place - 1)->id > gate_) at -= (--place)->owned();
  const auto byte = [this](std::size_t i) {
    return bytes_.begin() + static_cast<std::ptrdiff_t>(i);
  };
  std::rotate(byte(at), byte(from), bytes_.end());
  std::rotate(place, frames_.end() - 1, frames_.end());
  place->id = std::exchange(gate_, no_gate);
  return place->id;
}

OutputQueue::Progress OutputQueue::progress(FrameId id) const noexcept {
  if (first_ == frames_.size() || id < frames_[first_].id) return Progress::written;
  return id == frames_[first_].id && front_taken_ > 0 ? Progress::begun : Progress::waiting;
}

bool OutputQueue::needs_borrowed(FrameId id) const noexcept {
  if (progress(id) != Progress::begun) return false;
  const Frame& front = frames_[first_];
  return !front.borrowed.empty() && front_taken_ < front.before + front.borrowed.size();
}

void OutputQueue::erase(FrameId id) {
  SHEAF_CHECK(progress(id) == Progress::waiting && built_from_ == bytes_.size());
  const Frame* const found = find(id);
  SHEAF_CHECK(found != nullptr && !found->erased);
  if (id + 1 == gate_) open_gate();
  pending_ -= found->size();
  if (found == &frames_.back()) {
    bytes_.resize(bytes_.size() - found->owned());
    built_from_ = bytes_.size();
    frames_.pop_back();
    next_ = id;
    wipe_rest();
    drop_written();
    return;
  }
  Frame& frame = frames_[static_cast<std::size_t>(found - frames_.data())];
  frame.erased = true;
  frame.before = frame.owned();
  frame.after = 0;
  frame.borrowed = {};
  ++erased_frames_;
  erased_bytes_ += frame.before;
  const bool many = erased_frames_ >= slack_frames && erased_frames_ > frames_.size() / 2;
  const bool large = erased_bytes_ >= slack_bytes && erased_bytes_ > bytes_.size() / 2;
  if (many || large) compact();
}

void OutputQueue::compact() {
  std::size_t from = begin_;
  std::size_t to = 0;
  std::size_t kept = 0;
  for (std::size_t i = first_; i < frames_.size(); ++i) {
    const Frame frame = frames_[i];
    if (!frame.erased) {
      std::copy_n(bytes_.data() + from, frame.owned(), bytes_.data() + to);
      to += frame.owned();
      frames_[kept++] = frame;
    }
    from += frame.owned();
  }
  frames_.resize(kept);
  bytes_.resize(to);
  first_ = begin_ = 0;
  built_from_ = to;
  erased_frames_ = erased_bytes_ = 0;
  wipe_rest();
}

void OutputQueue::clear() noexcept {
  if (std::exchange(has_secrets_, false)) wipe(bytes_);
  bytes_.clear();
  frames_.clear();
  borrowed_ = {};
  open_gate();
  first_ = begin_ = built_from_ = 0;
  front_taken_ = pending_ = erased_frames_ = erased_bytes_ = 0;
}

}  // namespace sheaf::protocol
