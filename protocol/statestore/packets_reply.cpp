// Pure: no socket, clock, entropy, thread or callback.

#include <array>

#include "base/text.h"
#include "protocol/statestore/packets.h"
#include "protocol/statestore/payload.h"

namespace sheaf::protocol::statestore {
namespace {

constexpr std::string_view ok_line = "+OK\r\n";
constexpr std::string_view absent_line = "$-1\r\n";
constexpr std::string_view minus_one = ":-1\r\n";
constexpr std::string_view page_minus_one = "-1\r\n";  // would be an error line in RESP
constexpr std::string_view null_line = "_\r\n";
constexpr std::string_view error_mark = "-ERR";

constexpr std::string_view notify_name = "NOTIFY";
constexpr std::string_view set_name = "SET";
constexpr std::string_view value_name = "VALUE";
constexpr std::string_view delete_name = "DELETE";
constexpr std::string_view page_delete_name = "DEL";
constexpr std::string_view expired_name =
    "EXPIRED";  // named by an error text of .NET, but no known store sends it

template <class... Literals>
bool is_one_of(std::string_view payload, Literals... literals) noexcept {
  return ((payload == literals) || ...);
}

Fault malformed(std::string_view what) noexcept { return {Reason::protocol_error, what}; }

// The size of `-ERR` or `-ERR:` if a blank or the end follows; else that of the dash alone.
std::size_t error_mark_size(std::string_view text) noexcept {
  if (!equals_ignoring_case(text.substr(0, error_mark.size()), error_mark)) return 1;
  const std::string_view rest = text.substr(error_mark.size());
  if (rest.starts_with(':')) return error_mark.size() + 1;
  return rest.empty() || rest.starts_with(' ') ? error_mark.size() : 1;
}

// The fault if no answer to the request fits: an error line in one of its spellings (`-ERR x`,
// `-ERR: x`, each with or without CRLF, or another mark), or nonsense.
Fault fault_of(std::string_view payload) noexcept {
  if (!payload.starts_with('-') || is_one_of(payload, page_minus_one, "-1")) {
    return malformed("the payload is not an answer to this request");
  }
  std::string_view text = payload;
  if (text.ends_with(crlf)) text.remove_suffix(crlf.size());
  if (text.find_first_of(crlf) != std::string_view::npos) {
    return malformed("the error is more than one line");
  }
  text.remove_prefix(error_mark_size(text));
  const std::size_t first = text.find_first_not_of(' ');
  text.remove_prefix(first == std::string_view::npos ? text.size() : first);
  return {reason_of(text), text};
}

// Parses `:n` with nothing after it.
std::optional<std::uint64_t> whole_number(std::string_view payload) noexcept {
  PayloadReader in(payload);
  const auto number = in.take_number(':');
  if (!in.done()) return std::nullopt;
  return number;
}

void append_minus_one(ByteWriter& out, Spelling spelling) {
  out.bytes(spelling == Spelling::sdk ? minus_one : page_minus_one);
}

void append_number(ByteWriter& out, std::uint64_t number) {
  out.u8(':');
  out.decimal(number);
  out.bytes(crlf);
}

}  // namespace

void SetReply::encode(ByteWriter& out, Spelling spelling) const {
  if (applied) {
    out.bytes(ok_line);
  } else {
    append_minus_one(out, spelling);
  }
}

Parsed<SetReply> SetReply::parse(std::string_view payload) noexcept {
  if (payload == ok_line) return SetReply{true};
  if (is_one_of(payload, minus_one, page_minus_one, absent_line, null_line)) return SetReply{false};
  return std::unexpected(fault_of(payload));
}

void GetReply::encode(ByteWriter& out) const {
  if (value) {
    append_bulk(out, *value);
  } else {
    out.bytes(absent_line);
  }
}

Parsed<GetReply> GetReply::parse(std::string_view payload) noexcept {
  if (is_one_of(payload, absent_line, null_line, minus_one)) return GetReply{};
  PayloadReader in(payload);
  const auto size = in.take_number('$');
  if (!size) return std::unexpected(fault_of(payload));
  // The page's rule omits the last CRLF; then the length must be exact.
  const std::string_view rest = in.left();
  const bool exact = rest.size() == *size;
  const bool ended =
      rest.size() >= crlf.size() && rest.size() - crlf.size() == *size && rest.ends_with(crlf);
  if (!exact && !ended) return std::unexpected(malformed("the value has another length"));
  return GetReply{rest.substr(0, *size)};
}

void DelReply::encode(ByteWriter& out) const { append_number(out, removed); }

Parsed<DelReply> DelReply::parse(std::string_view payload) noexcept {
  if (const auto number = whole_number(payload)) return DelReply{*number};
  return std::unexpected(fault_of(payload));
}

void VdelReply::encode(ByteWriter& out, Spelling spelling) const {
  if (result == Result::differs) {
    append_minus_one(out, spelling);
  } else {
    append_number(out, result == Result::removed ? 1 : 0);
  }
}

Parsed<VdelReply> VdelReply::parse(std::string_view payload) noexcept {
  if (is_one_of(payload, minus_one, page_minus_one)) return VdelReply{Result::differs};
  if (const auto number = whole_number(payload)) {
    return VdelReply{*number > 0 ? Result::removed : Result::absent};
  }
  return std::unexpected(fault_of(payload));
}

void KeyNotifyReply::encode(ByteWriter& out) const {
  if (done) {
    out.bytes(ok_line);
  } else {
    append_number(out, 0);
  }
}

Parsed<KeyNotifyReply> KeyNotifyReply::parse(std::string_view payload) noexcept {
  if (payload == ok_line) return KeyNotifyReply{true};
  if (whole_number(payload) == 0u) return KeyNotifyReply{false};
  return std::unexpected(fault_of(payload));
}

void ErrorReply::encode(ByteWriter& out, Spelling spelling) const {
  out.bytes(error_mark);
  out.bytes(spelling == Spelling::page && to_keynotify ? ": " : " ");
  out.bytes(text_of(error));
  if (!detail.empty()) {
    out.bytes(": ");
    out.bytes(detail);
  }
  out.bytes(crlf);
}

void Notification::encode(ByteWriter& out, Spelling spelling) const {
  append_array_head(out, value ? 4 : 2);
  append_bulk(out, notify_name);
  if (value) {
    append_bulk(out, set_name);
    append_bulk(out, value_name);
    append_bulk(out, *value);
  } else {
    append_bulk(out, spelling == Spelling::sdk ? delete_name : page_delete_name);
  }
}

Parsed<Notification> Notification::parse(std::string_view payload) noexcept {
  const auto array = BulkArray::parse(payload);
  if (!array || array->count < 2 || !equals_ignoring_case(array->items[0], notify_name)) {
    return std::unexpected(malformed("the payload is not a notification"));
  }
  const std::string_view operation = array->items[1];
  if (equals_ignoring_case(operation, set_name)) {
    if (array->count == 4) return Notification{Operation::set, array->items[3]};
    if (array->count == 2) return Notification{Operation::set, std::nullopt};
  }
  if (array->count == 2) {
    for (const std::string_view name : {delete_name, page_delete_name, expired_name}) {
      if (equals_ignoring_case(operation, name)) return Notification{Operation::removed, {}};
    }
  }
  return Notification{Operation::unknown, std::nullopt};
}

}  // namespace sheaf::protocol::statestore
