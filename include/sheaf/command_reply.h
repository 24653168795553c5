#pragma once

/// @file
/// CommandReply: what a server answered to a Command.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <sheaf/export.h>

namespace sheaf {
inline namespace v0 {

/// What a server answered to a command: a value, or an aggregate of such values. A value of one
/// kind is never converted to another: text() of a number is nothing, and an error is no text.
///
/// sheaf speaks RESP3 with servers that know it. An older server sends arrays instead of maps and
/// sets, texts instead of doubles, and 0 or 1 instead of booleans.
///
/// Thread rule: an immutable value, cheap to copy; its parts share the memory of the whole reply.
/// Lifetime: views live as long as any value of the same reply.
class SHEAF_API CommandReply {
 public:
  /// The kind of a value.
  enum class Kind : std::uint8_t {
    null,        ///< Nothing.
    number,      ///< A signed 64-bit integer.
    real,        ///< A double; may be infinite or not a number.
    boolean,     ///< True or false.
    big_number,  ///< An integer of any size, as its decimal text.
    text,        ///< Bytes.
    verbatim,    ///< A text that is meant to be shown as it is.
    status,      ///< A short text of the server, such as "OK".
    error,       ///< A part of an aggregate that failed.
    array,       ///< Values in order.
    set,         ///< Values without an order.
    map          ///< Keys and values alternate: twice as many values as pairs.
  };
  class Iterator;

  /// A null.
  CommandReply() noexcept = default;

  /// The kind of this value. A whole reply is never an `error`: then execute() ends as an Error.
  Kind kind() const noexcept;
  /// True if the server said that there is nothing.
  bool is_null() const noexcept { return kind() == Kind::null; }
  /// The value of a `number`; nothing for other kinds.
  std::optional<std::int64_t> number() const noexcept;
  /// The value of a `real`; nothing for other kinds.
  std::optional<double> real() const noexcept;
  /// The value of a `boolean`; nothing for other kinds.
  std::optional<bool> boolean() const noexcept;
  /// The bytes of a `text`, `verbatim`, `status` or `big_number`; nothing for other kinds.
  std::optional<std::string_view> text() const noexcept;
  /// The code and sentence of an `error`, "WRONGTYPE Operation against …"; nothing for other kinds.
  std::optional<std::string_view> error() const noexcept;

  /// The number of values in an `array`, `set` or `map`; 0 for all other kinds.
  std::size_t size() const noexcept;
  /// The value at `index`; null past the end. Walks from the first value: prefer a loop.
  CommandReply operator[](std::size_t index) const noexcept;
  /// The value after the text `key` in a `map`, or in an `array` of pairs; nothing if not found.
  std::optional<CommandReply> find(std::string_view key) const noexcept;
  /// Iterates over the values in order.
  Iterator begin() const noexcept;
  /// The end of the values.
  Iterator end() const noexcept;

  struct Tree;  ///< Internal.

 private:
  friend struct Tree;
  CommandReply(std::shared_ptr<const Tree> tree, std::size_t element) noexcept
      : tree_(std::move(tree)), element_(element) {}
  std::shared_ptr<const Tree> tree_;  // nullptr: the value is null
  std::size_t element_ = 0;
};

/// Iterates over the values of an aggregate.
///
/// Thread rule: one thread; may outlive the CommandReply that it came from.
class SHEAF_API CommandReply::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;  ///< Dereferencing makes a new value.
  using value_type = CommandReply;                    ///< As every iterator.
  using difference_type = std::ptrdiff_t;             ///< As every iterator.
  using pointer = const CommandReply*;                ///< As every iterator.
  using reference = CommandReply;                     ///< As every iterator.

  /// An iterator of no aggregate.
  Iterator() noexcept = default;
  /// The current value.
  CommandReply operator*() const noexcept { return at_; }
  /// Moves to the next value.
  Iterator& operator++() noexcept;
  Iterator operator++(int) noexcept {
    Iterator before = *this;
    ++*this;
    return before;
  }
  /// True if both are at the same value; only for iterators of one aggregate.
  bool operator==(const Iterator& other) const noexcept {
    return at_.element_ == other.at_.element_;
  }

 private:
  friend class CommandReply;
  explicit Iterator(CommandReply at) noexcept : at_(std::move(at)) {}
  CommandReply at_;
};

/// "null", "number", "real", ...: the name of the enumerator.
SHEAF_API std::string_view to_string(CommandReply::Kind kind) noexcept;

}  // namespace v0
}  // namespace sheaf
