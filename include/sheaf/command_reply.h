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

/// What a server answered to a command: a value, or an aggregate of such values. What one kind of
/// value says is never given as another: text() of a number is nothing, and an error is no text.
///
/// RESP3 is spoken with servers that know it. An older one sends arrays in the place of maps and
/// sets, texts in the place of doubles, and 0 or 1 in the place of booleans.
///
/// Thread rule: an immutable value, cheap to copy; its parts share the memory of the whole reply.
/// Lifetime: views live as long as any value of the same reply.
class SHEAF_API CommandReply {
 public:
  /// What a value is.
  enum class Kind : std::uint8_t {
    null,        ///< Nothing.
    number,      ///< 64 bits, with a sign.
    real,        ///< A double; may be infinite or not a number.
    boolean,     ///< True or false.
    big_number,  ///< An integer of any size, as its decimal text.
    text,        ///< Bytes.
    verbatim,    ///< A text that is meant to be shown as it is.
    status,      ///< A short text of the server, such as "OK".
    error,       ///< Of an aggregate's part: that part failed.
    array,       ///< Values in an order.
    set,         ///< Values in no order.
    map          ///< Keys and values in turn: twice as many values as pairs.
  };
  class Iterator;

  /// Null.
  CommandReply() noexcept = default;

  /// See Kind. Of the reply to execute() as a whole it is never `error`: that ends as an Error.
  Kind kind() const noexcept;
  /// Whether the server said that there is nothing.
  bool is_null() const noexcept { return kind() == Kind::null; }
  /// Of a `number`.
  std::optional<std::int64_t> number() const noexcept;
  /// Of a `real`.
  std::optional<double> real() const noexcept;
  /// Of a `boolean`.
  std::optional<bool> boolean() const noexcept;
  /// Of a `text`, `verbatim`, `status` or `big_number`.
  std::optional<std::string_view> text() const noexcept;
  /// Of an `error`: its code and its sentence, "WRONGTYPE Operation against …".
  std::optional<std::string_view> error() const noexcept;

  /// How many values an `array`, a `set` or a `map` has; 0 for all others.
  std::size_t size() const noexcept;
  /// One of them; null behind the last. Walks from the first: prefer a loop.
  CommandReply operator[](std::size_t index) const noexcept;
  /// What follows the text `key` in a `map`, or in an `array` of pairs; nothing if it is not there.
  std::optional<CommandReply> find(std::string_view key) const noexcept;
  /// The values in turn.
  Iterator begin() const noexcept;
  /// Behind the last of them.
  Iterator end() const noexcept;

  struct Tree;  ///< Internal.

 private:
  friend struct Tree;
  CommandReply(std::shared_ptr<const Tree> tree, std::size_t element) noexcept
      : tree_(std::move(tree)), element_(element) {}
  std::shared_ptr<const Tree> tree_;  // none: null
  std::size_t element_ = 0;
};

/// Walks over the values of an aggregate.
///
/// Thread rule: one thread; may outlive the CommandReply that it came from.
class SHEAF_API CommandReply::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;  ///< It makes the values that it returns.
  using value_type = CommandReply;                    ///< As every iterator.
  using difference_type = std::ptrdiff_t;             ///< As every iterator.
  using pointer = const CommandReply*;                ///< As every iterator.
  using reference = CommandReply;                     ///< As every iterator.

  /// Of no aggregate.
  Iterator() noexcept = default;
  /// The value.
  CommandReply operator*() const noexcept { return at_; }
  /// On to the next one.
  Iterator& operator++() noexcept;
  Iterator operator++(int) noexcept {
    Iterator before = *this;
    ++*this;
    return before;
  }
  /// Whether both stand at the same value; for iterators of one aggregate.
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
