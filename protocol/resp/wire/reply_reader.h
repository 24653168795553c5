#pragma once

// ReplyReader: reads replies of RESP2 and RESP3 from the bytes of a connection, one after another,
// in whatever pieces they arrive. It is iterative: it keeps a stack of open aggregates instead of
// recursing, and checks every length against a limit before it stores anything.
//
// The caller repeats read() with all bytes that are not consumed yet:
//
// | read() says | meaning                                      | the caller                   |
// |-------------|----------------------------------------------|------------------------------|
// | need_input  | the reply is not complete                    | receives more                |
// | complete    | root() is the reply, size() bytes long       | uses it, consumes size()     |
// | pass_over   | the reply is above a limit: fault()          | skips size() bytes, present  |
// |             |                                              | or to come; reads on         |
// | broken      | no RESP, or above every limit: fault()       | ends the connection          |
//
// A reply above a limit is skipped to its end, wherever in it the limit was exceeded. Only a count
// of the values still to come is kept, so a deep or long reply takes no memory. Afterwards it is
// complete as `too_large`. A push is never skipped, because no request waits for the error.
// The same bytes give the same results in whatever pieces they come.
//
// The reader is strict, because one byte too many or too few gives a reply to the wrong request:
// numbers have no leading zeros, lengths no sign, lines end with CR LF and contain neither, and a
// push is never inside a reply. Attributes are checked and left out of the tree. The streamed forms
// of RESP3 ($?, *?) are refused; no server sends them.
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

// Limits of a reply that is kept, and of one that is skipped.
struct ReplyLimits {
  std::uint32_t text = 16u << 20;     // bytes of a text
  std::uint32_t line = 64u << 10;     // bytes of a status, an error or a big number
  std::uint32_t bytes = 64u << 20;    // in a whole reply; the input buffer must hold as much
  std::uint32_t elements = 1u << 20;  // in a whole reply, attributes included
  std::uint32_t depth = 32;           // levels of nested aggregates
  // Bytes of a skipped reply. It cannot announce more values than these bytes can hold. Anything
  // longer is not a reply but garbage.
  std::uint64_t passed_over = std::uint64_t{4} << 30;
};

// Why bytes are not a reply.
struct ReplyFault {
  enum class Kind : std::uint8_t {
    no_type,     // no reply begins with `byte`
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
  std::uint8_t byte = 0;  // the first wrong byte, or the first of what is wrong
  std::uint64_t at = 0;   // its place in the reply

  // "a byte that begins no reply (0x00 at byte 12 of a reply)"
  std::string message() const;
};

class ReplyReader {
 public:
  enum class Progress : std::uint8_t { need_input, complete, pass_over, broken };

  explicit ReplyReader(const ReplyLimits& limits = {}) noexcept : limits_(limits) {}

  // `data` begins where the reply does. May throw std::bad_alloc; then the reader must not be used
  // any more.
  Progress read(std::string_view data);

  // True if the next byte begins a reply.
  bool at_beginning() const noexcept { return done_ && !broken_; }

  // ---- after `complete`; views into `data`
  Value root() const noexcept { return {elements_.data(), bytes_}; }
  KeptReply keep() const { return {bytes(), elements_}; }
  std::string_view bytes() const noexcept { return {bytes_, size_}; }
  // Size of the reply, or number of bytes to skip.
  std::size_t size() const noexcept { return size_; }

  // ---- after `pass_over`
  // Type of the skipped reply; nothing if it is not known yet.
  std::optional<Type> passed_over() const noexcept { return passed_type_; }

  // ---- after `pass_over` and `broken`
  const ReplyFault& fault() const noexcept { return fault_; }

  // Capacity for elements, for tests of bounds.
  std::size_t capacity() const noexcept { return elements_.capacity(); }

 private:
  enum class Step : std::uint8_t { need_input, value, opened, pass_over, broken };
  // The part of a skipped value that comes next.
  enum class Rest : std::uint8_t { none, of_line, end_of_text };
  using Fault = ReplyFault::Kind;

  // An aggregate whose elements have not all been read.
  struct Open {
    std::uint32_t element = 0;
    std::uint32_t left = 0;
    bool attribute = false;  // its elements are not kept
  };

  void begin_reply() noexcept;
  void forget_elements() noexcept;
  Step read_element(std::string_view data);
  Step read_line(std::string_view data, Type type);
  bool read_usual_text(std::string_view data);
  Step read_text(std::string_view data, Type type);
  Step read_aggregate(std::string_view data, Type type, bool attribute = false);
  Step open(std::uint32_t count, Type type, bool attribute, std::size_t end);
  bool close_element() noexcept;

  // ---- skipping a reply
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
  std::size_t searched_ = 0;     // up to here its line has no end
  std::uint32_t announced_ = 0;  // elements of all aggregates so far
  bool done_ = true;             // the next read() begins a reply
  bool broken_ = false;
  ReplyFault fault_;
  bool passes_over_ = false;
  std::optional<Type> passed_type_;
  Rest rest_ = Rest::none;
  std::uint64_t left_ = 0;          // values that are still to come
  std::uint64_t passed_bytes_ = 0;  // bytes that the caller has skipped
};

}  // namespace sheaf::protocol::resp
