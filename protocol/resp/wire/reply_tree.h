#pragma once

// The content of a reply of the Redis protocol (RESP2 or RESP3), as a flat tree: one element for
// each value, an aggregate before its contents. An element knows how many elements it covers, so a
// walk needs no pointers, and the vector of elements is reused for the next reply.
//
// Texts stay where they were received. The two protocols differ less here than on the wire: every
// form of null is `null`, both forms of errors are `error`, and a map is walked like the flat array
// that RESP2 sends instead.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::protocol::resp {

enum class Type : std::uint8_t {
  null,        // _, $-1 or *-1
  status,      // +
  error,       // - or !
  number,      // :
  text,        // $
  verbatim,    // =, without its format
  real,        // ,
  boolean,     // #
  big_number,  // (, as text
  array,       // *
  map,         // %: a key, its value, the next key, ...
  set,         // ~
  push,        // >: belongs to no command
  too_large    // a skipped reply that exceeds our limits; its value: its size in bytes
};

struct Element {
  Type type = Type::null;
  std::uint32_t size = 0;   // text: number of bytes; aggregate: number of direct elements
  std::uint32_t span = 1;   // elements up to the next sibling, itself included
  std::uint64_t value = 0;  // the number, the bits of the real, or where the text begins
};

// One value of a reply: an element, and the bytes that contain its texts. Lives as long as both.
class Value {
 public:
  class Iterator;

  constexpr Value() noexcept = default;
  Value(const Element* element, const char* bytes) noexcept : element_(element), bytes_(bytes) {}

  Type type() const noexcept { return element_->type; }
  bool is(Type type) const noexcept { return element_->type == type; }
  bool is_null() const noexcept { return is(Type::null); }
  bool is_error() const noexcept { return is(Type::error); }
  // True for a status, a text or a verbatim text, which servers use interchangeably.
  bool is_text() const noexcept { return is(Type::text) || is(Type::status) || is(Type::verbatim); }
  bool is_status(std::string_view wanted) const noexcept {
    return is(Type::status) && text() == wanted;
  }
  bool is_aggregate() const noexcept { return type() >= Type::array && type() <= Type::push; }

  // Empty for a value without text.
  std::string_view text() const noexcept {
    const bool has_text = is_text() || is_error() || is(Type::big_number);
    return has_text ? std::string_view(bytes_ + element_->value, element_->size)
                    : std::string_view{};
  }
  // Reads a number, or a text that is one: some servers send texts where others send numbers.
  std::optional<std::int64_t> number() const noexcept;
  // Reads a real, or a number or a text that is one.
  std::optional<double> real() const noexcept;
  // Reads a boolean, or the numbers 0 and 1, which RESP2 sends instead.
  std::optional<bool> boolean() const noexcept;

  // ---- aggregates; all other values count as empty
  std::uint32_t size() const noexcept { return is_aggregate() ? element_->size : 0; }
  Iterator begin() const noexcept;
  Iterator end() const noexcept;
  // The element at `index`; nothing if there are fewer. Walks from the front.
  std::optional<Value> at(std::uint32_t index) const noexcept;
  // The value after the text `key` in a map, or in an array of pairs.
  std::optional<Value> find(std::string_view key) const noexcept;

  const Element& element() const noexcept { return *element_; }

 private:
  static constexpr Element nothing{};
  const Element* element_ = &nothing;
  const char* bytes_ = nullptr;
};

class Value::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = const Value*;
  using reference = Value;

  Iterator() noexcept = default;
  Iterator(const Element* element, const char* bytes) noexcept : element_(element), bytes_(bytes) {}

  Value operator*() const noexcept { return {element_, bytes_}; }
  Iterator& operator++() noexcept {
    element_ += element_->span;
    return *this;
  }
  Iterator operator++(int) noexcept {
    const Iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
    return a.element_ == b.element_;
  }

 private:
  const Element* element_ = nullptr;
  const char* bytes_ = nullptr;
};

inline Value::Iterator Value::begin() const noexcept { return {element_ + 1, bytes_}; }
inline Value::Iterator Value::end() const noexcept {
  return {element_ + (is_aggregate() ? element_->span : 1), bytes_};
}

// A reply that outlives the input it came in.
class KeptReply {
 public:
  // `bytes` are those of the whole reply, `elements` its tree.
  KeptReply(std::string_view bytes, const std::vector<Element>& elements)
      : bytes_(bytes), elements_(elements) {}

  Value root() const noexcept { return at(0); }
  // The value that begins with an element of the tree.
  Value at(std::size_t element) const noexcept { return {&elements_[element], bytes_.data()}; }

 private:
  std::string bytes_;
  std::vector<Element> elements_;
};

// Parses a number as the protocol writes it: digits without leading zeros, "-" before negative
// ones. Nothing for "+1", "-0", "", or a number that does not fit.
std::optional<std::int64_t> parse_number(std::string_view text) noexcept;
// Parses a real number: 3, -0.5, 1e-7, inf, -inf, nan. Nothing for anything else or out of range.
std::optional<double> parse_real(std::string_view text) noexcept;

}  // namespace sheaf::protocol::resp
