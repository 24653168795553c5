#pragma once

// WriteOrder: judges whether the operations on each key took effect in the order in which their
// client submitted them (docs/design/0049-order-of-one-key.md). It knows what was submitted, how
// that ended, and what the servers stored. Rule O1 and rule O2 are broken by
//  - a write that was carried out after a later one on its key, although it had not ended by then.
//    One that had ended as `unknown` may still be on its way; nothing waits for it. One that hangs
//    at a server is waited for no longer than `patience`
//  - a read that returned a write that was submitted after it
//  - a read that did not return the last acknowledged write before it, but an earlier one
//
// Each value is written once, so it says which write it is. Clients may write the same key: each
// has an order of its own.
//
// Thread rule: one thread at a time.

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sheaf/result.h>

#include "tests/sim/kit/server_log.h"

namespace sheaf::sim {

class Op;

class WriteOrder {
 public:
  // The number of a read, for end_read().
  using Read = std::size_t;

  // `patience`: how long a write waits for earlier ones that hang elsewhere. None: servers do not
  // hang, or keys stay where they are.
  explicit WriteOrder(std::optional<std::chrono::nanoseconds> patience = std::nullopt)
      : patience_(patience) {}

  // ---- in the order of submission
  // `at`: only needed with `patience`.
  void begin_write(unsigned client, std::string_view key, std::string_view value,
                   Deadline at = Deadline{0});
  Read begin_read(unsigned client, std::string_view key);
  // All sets and gets of a client, the earliest first.
  void add(unsigned client, const std::deque<Op>& operations);

  // ---- when an operation has ended
  void acknowledge(std::string_view value);
  // The write was not acknowledged.
  void fail(std::string_view value, Outcome outcome, Deadline at);
  // The value that the read returned, if it returned one.
  void end_read(Read read, std::optional<std::string_view> value);

  // Returns what is wrong, in a sentence for each finding. Call it when nothing is in progress.
  std::vector<std::string> judge(const ServerLog& log) const;
  // How many operations were submitted while another one of their client on their key was open.
  std::size_t overlaps() const { return overlaps_; }
  void forget();

 private:
  enum class State : std::uint8_t { open, acknowledged, unknown, not_done };
  struct Write {
    std::string value;
    Deadline submitted_at{0};
    State state = State::open;
    Deadline ended_at = never;  // unless it was acknowledged
  };
  // The writes of a client to a key. The first has the number 0.
  struct Line {
    std::vector<Write> writes;
    std::size_t open = 0;    // operations that have not ended
    Deadline busy_until{0};  // of those that add() has added
  };
  struct Place {
    Line* line = nullptr;
    std::size_t number = 0;
  };
  struct Seen {
    Line* line = nullptr;
    std::size_t after = 0;  // the number of writes that were submitted before it
    bool returned = false;  // a value
    std::string value;
  };
  // A write that was carried out.
  struct Done {
    std::size_t number = 0;
    Deadline at{0};
  };

  Line& line_of(unsigned client, std::string_view key);
  Line& begin(unsigned client, std::string_view key);
  void add_write(Line& line, std::string_view value, Deadline at);
  const Place* find(std::string_view value) const;
  void end_write(std::string_view value, State state, Deadline at);
  bool overtakes(const Line& line, const Done& later, Deadline ended_at) const;
  static std::string check(const Seen& read, std::size_t number);

  const std::optional<std::chrono::nanoseconds> patience_;
  std::map<std::pair<unsigned, std::string>, Line> lines_;
  std::unordered_map<std::string, Place> places_;  // by value
  std::vector<Seen> reads_;
  std::size_t overlaps_ = 0;
};

}  // namespace sheaf::sim
