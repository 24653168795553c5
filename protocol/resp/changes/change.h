#pragma once

// Change: a write that depends on the current value of its key. Not every server has a command that
// does this in one step, so it takes several (changes.h). This file defines such writes, what they
// do to a key whose value is known, and how a script or a transaction expresses that.
//
// | write                     | no key           | another value | the value it wants          |
// |---------------------------|------------------|---------------|-----------------------------|
// | set if_version            | absent           | not_stored    | stores, with its life       |
// | set if_absent_or_equal    | stores           | not_stored    | stores, with its life       |
// | remove if_version, _value | absent           | not_stored    | removes                     |
// | append, prepend           | not_stored       |               | stores; keeps the old life  |
// | increment, decrement      | stores `initial` | refused       | stores; keeps the old life  |
// |                           | or absent        |               |                             |
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/operation.h"
#include "protocol/resp/changes/value_version.h"
#include "protocol/resp/wire/command_writer.h"

namespace sheaf::protocol::resp {

// A change has the texts of its operation, and the results of its steps. The value is borrowed.
struct Change : OperationTerms {
  explicit Change(const Operation& operation)
      : OperationTerms(operation),
        key(operation.key),
        value(operation.value),
        version(ValueVersion::parse(operation.version)) {}

  std::string key;
  std::string_view value;
  ValueVersion version;
  std::string present{};  // the value that was found; later the one written instead
  std::string refusal{};  // an error that came before the end of a step
};

// True if the operation is such a write.
bool is_change(const Operation& operation) noexcept;

// The largest number that servers can count to.
inline constexpr std::uint64_t largest_number = 0x7fff'ffff'ffff'ffff;

// What happens to the key.
struct Verdict {
  enum class Act : std::uint8_t { nothing, store, remove };
  Act act = Act::nothing;
  // store
  std::string_view value{};  // in the change or its operation
  bool keeps_life = false;   // else it gets that of the change
  // nothing
  Status status = Status::done;
  std::string_view refusal{};  // refused: why, as a server would put it
};
// `present` is the key's value; nothing if it is absent. The text to write may be stored in the
// change. Texts above `value_limit` are refused. May throw std::bad_alloc.
Verdict judge(Change& change, std::optional<std::string_view> present, std::uint64_t value_limit);

// The words of a command, up to a fixed number.
class Words {
 public:
  void add(Argument word) noexcept { words_[count_++] = word; }
  Command command() const noexcept { return {words_.data(), count_}; }

 private:
  std::array<Argument, 10> words_;
  std::size_t count_ = 0;
};
// Adds PX or EX, if there is a time to live.
void add_life(Words& words, std::chrono::milliseconds ttl) noexcept;

// A script makes the change in one step if it knows the value to compare; for a change by version
// that is `present`. read_script reads its reply.
bool needs_present(const Change& change) noexcept;
Words script_of(const Change& change) noexcept;

}  // namespace sheaf::protocol::resp
