#pragma once

// KeyHistory: what one thread has written to one key, and which of it a reader may see.
//
// A key has one writer, whose writes take effect in the order in which they begin. A reader sees
// the last write that was acknowledged before the read began, or a later one. A write whose outcome
// is unknown may be carried out at any time, so it may also be seen at any time.
//
// Thread rule: one thread at a time.

#include <optional>
#include <string>
#include <vector>

#include <sheaf/options.h>

namespace sheaf::sim {

class KeyHistory {
 public:
  explicit KeyHistory(std::string name) : name_(std::move(name)), writes_(1) {}

  const std::string& name() const { return name_; }
  // True if a write has not ended.
  bool busy() const { return open_ > 0; }
  // Returns the value to be set. It names the key and the number of the write, followed by `size`
  // more bytes.
  const std::string& begin_set(std::size_t size);
  void begin_remove() {
    writes_.push_back({std::nullopt, State::open});
    ++open_;
  }
  // The write that began last, for end_write(): several may be in flight.
  std::size_t newest() const { return writes_.size() - 1; }
  // Ends a write; no error means that it was acknowledged. Returns what is wrong, or nothing.
  std::string end_write(std::size_t write, const Error* error);
  std::string end_write(const Error* error) { return end_write(newest(), error); }

  // True if a write may still be carried out, even after later ones.
  bool in_doubt(std::size_t write) const {
    return writes_[write].state == State::open || writes_[write].state == State::unknown;
  }

  // Call when a read begins; check() takes the result when the read ends.
  std::size_t last_acknowledged() const;
  // Checks that a read that began after `since` may see this. Returns what is wrong, or nothing.
  std::string check(std::size_t since, const GetResult& got);

 private:
  enum class State : std::uint8_t { open, acknowledged, unknown, not_done };
  struct Write {
    std::optional<std::string> value;  // none: a removal
    State state = State::acknowledged;
    bool seen = false;
  };

  std::string name_;
  std::vector<Write> writes_;  // the first is the key's initial absence
  unsigned open_ = 0;          // writes that have not ended
};

}  // namespace sheaf::sim
