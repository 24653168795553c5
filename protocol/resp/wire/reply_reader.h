#pragma once

// ReplyReader: reads replies of RESP2 and RESP3 out of the bytes of a connection, one after
// another, whatever pieces they come in. Iterative: a stack of open aggregates instead of
// recursion, and every length is checked against a limit before anything is kept for it.
//
// The caller repeats read() with all bytes that are not consumed yet:
//
// | read() says | meaning                                      | the caller                   |
// |-------------|----------------------------------------------|------------------------------|
// | need_input  | the reply is not complete                    | receives more                |
// | complete    | root() is the reply, size() bytes long       | uses it, consumes size()     |
// | pass_over   | the reply is above a limit: fault()          | skips size() bytes, here yet |
// |             |                                              | or not; reads on             |
// | broken      | no RESP, or above every limit: fault()       | ends the connection          |
//
// A reply above a limit is passed over to its end, wherever in it the limit was passed. Nothing of
// it is kept but a count of the values that are still to come, so it takes no memory however deep
// or long it is. Then it is complete as `too_large`. Only of a push nothing is passed over: it
// answers nobody who could be told.
// The same bytes give the same results in whatever pieces they come.
//
// Strict, because a byte too many or too few gives a reply to the wrong request: numbers have no
// leading zeros, lengths no sign, lines end with CR LF and contain neither, a push is never inside
// a reply. Attributes are checked and left out of the tree. The streamed forms of RESP3 ($?, *?)
// are refused; no server sends them.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/wire/reply_tree.h"

namespace sheaf::protocol::resp {

// Of a reply that is kept; and of one that is passed over.
struct ReplyLimits {
  std::uint32_t text = 16u << 20;     // bytes of a text
  std::uint32_t line = 64u << 10;     // bytes of a status, an error or a big number
  std::uint32_t bytes = 64u << 20;    // of a whole reply; the input buffer must hold as much
  std::uint32_t elements = 1u << 20;  // of a whole reply, those of attributes included
  std::uint32_t depth = 32;           // of aggregates in each other
  // Bytes of one that is passed over, which cannot announce more values than these are enough for.
  // What is longer is no reply but garbage.
  std::uint64_t passed_over = std::uint64_t{4} << 30;
};

// Why bytes are not a reply.
struct ReplyFault {
  enum class Kind : std::uint8_t {
    no_type,     // `byte` begins no reply
    streamed,    // a length or end of a streamed reply
    bad_number,  // also a length
    bad_real,
    bad_boolean,
    bad_null,
    bad_verbatim,  // no format and colon
    bad_line_end,  // CR LF is not where it belongs
    nested_push,
    line_too_long,
    text_too_long,
    reply_too_long,
    too_many_elements,
    too_deep
  };
  Kind kind = Kind::no_type;
  std::uint8_t byte = 0;  // the first one that is wrong, or that begins what is wrong
  std::uint64_t at = 0;   // its place in the reply

  // "a byte that begins no reply (0x00 at byte 12 of a reply)"
  std::string message() const;
};

class ReplyReader {
 public:
  enum class Progress : std::uint8_t { need_input, complete, pass_over, broken };

  explicit ReplyReader(const ReplyLimits& limits = {}) noexcept : limits_(limits) {}

  // `data` begins where the reply does. May throw std::bad_alloc; then the reader is of no more
  // use.
  Progress read(std::string_view data);

  // ---- after `complete`; views into `data`
  Value root() const noexcept { return {elements_.data(), bytes_}; }
  KeptReply keep() const { return {bytes(), elements_}; }
  std::string_view bytes() const noexcept { return {bytes_, size_}; }
  // Bytes of the reply, or bytes to be passed over.
  std::size_t size() const noexcept { return size_; }

  // ---- after `pass_over`
  // What is passed over; nothing if that is not known yet.
  std::optional<Type> passed_over() const noexcept { return passed_type_; }

  // ---- after `pass_over` and `broken`
  const ReplyFault& fault() const noexcept { return fault_; }

  // Of elements, for tests of bounds.
  std::size_t capacity() const noexcept { return elements_.capacity(); }

 private:
  enum class Step : std::uint8_t { need_input, value, opened, pass_over, broken };
  // What of a value that is passed over comes next.
  enum class Rest : std::uint8_t { none, of_line, end_of_text };
  using Fault = ReplyFault::Kind;

  // An aggregate whose elements are not all read.
  struct Open {
    std::uint32_t element = 0;
    std::uint32_t left = 0;
    bool attribute = false;  // its elements are not kept
  };

  void begin_reply() noexcept;
  void forget_elements() noexcept;
  Step read_element(std::string_view data);
  Step read_line(std::string_view data, Type type);
  Step read_text(std::string_view data, Type type);
  Step read_aggregate(std::string_view data, Type type, bool attribute = false);
  Step open(std::uint32_t count, Type type, bool attribute, std::size_t end);
  bool close_element() noexcept;

  // ---- of a reply that is passed over
  Step exceed(Fault kind, std::string_view data, Type type) noexcept;
  Step pass_rest(std::string_view data);
  Step pass_line(std::string_view data);
  Step pass_text(std::string_view data, std::size_t begin, std::uint64_t size);
  Step pass_text_end(std::string_view data, std::size_t at);
  Step pass_aggregate(std::string_view data, std::uint64_t count, bool attribute, std::size_t end);
  Progress pass_over(std::size_t size) noexcept;
  std::uint64_t most_passed_over() const noexcept;
  std::uint64_t room() const noexcept;

  std::optional<std::string_view> line(std::string_view data, Type type, bool is_long, Step& step);
  Step add(Type type, std::uint64_t value, std::size_t size, std::size_t end);
  Step fail(Fault kind, std::string_view data, std::size_t at) noexcept;

  const ReplyLimits limits_;
  std::vector<Element> elements_;
  std::vector<Open> open_;
  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t at_ = 0;           // where the next element begins
  std::size_t searched_ = 0;     // so far there is no end of its line
  std::uint32_t announced_ = 0;  // elements of all aggregates so far
  bool done_ = true;             // the next read() begins a reply
  bool broken_ = false;
  ReplyFault fault_;
  bool passes_over_ = false;
  std::optional<Type> passed_type_;
  Rest rest_ = Rest::none;
  std::uint64_t left_ = 0;          // values that are still to come
  std::uint64_t passed_bytes_ = 0;  // that the caller has skipped
};

}  // namespace sheaf::protocol::resp
