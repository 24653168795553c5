// Pure: no socket, clock, entropy, thread or callback.

#include <array>

#include "protocol/statestore/packets.h"
#include "protocol/statestore/payload.h"

namespace sheaf::protocol::statestore {
namespace {

constexpr std::string_view kOk = "+OK\r\n";
constexpr std::string_view kAbsent = "$-1\r\n";
constexpr std::string_view kMinusOne = ":-1\r\n";
constexpr std::string_view kPageMinusOne = "-1\r\n";  // would be an error line in RESP
constexpr std::string_view kNull = "_\r\n";
constexpr std::string_view kErrorMark = "-ERR";

constexpr std::string_view kNotify = "NOTIFY";
constexpr std::string_view kSet = "SET";
constexpr std::string_view kValue = "VALUE";
constexpr std::string_view kDelete = "DELETE";
constexpr std::string_view kPageDelete = "DEL";
constexpr std::string_view kExpired = "EXPIRED";  // named by an error text of .NET, sent by nobody

template <class... Literals>
bool is_one_of(std::string_view payload, Literals... literals) noexcept {
  return ((payload == literals) || ...);
}

Fault malformed(std::string_view what) noexcept { return {Reason::protocol_error, what}; }

// `-ERR` or `-ERR:` where a blank or the end follows; else the dash alone.
std::size_t error_mark_size(std::string_view words) noexcept {
  if (!equals_ignoring_case(words.substr(0, kErrorMark.size()), kErrorMark)) return 1;
  const std::string_view behind = words.substr(kErrorMark.size());
  if (behind.starts_with(':')) return kErrorMark.size() + 1;
  return behind.empty() || behind.starts_with(' ') ? kErrorMark.size() : 1;
}

// What is left when no answer of the request fits: an error line in one of its spellings
// (`-ERR x`, `-ERR: x`, each with or without CRLF, or another word), or nonsense.
Fault fault_of(std::string_view payload) noexcept {
  if (!payload.starts_with('-') || is_one_of(payload, kPageMinusOne, "-1")) {
    return malformed("the payload is no answer to this request");
  }
  std::string_view words = payload;
  if (words.ends_with(crlf)) words.remove_suffix(crlf.size());
  if (words.find_first_of(crlf) != std::string_view::npos) {
    return malformed("the error is more than one line");
  }
  words.remove_prefix(error_mark_size(words));
  const std::size_t first = words.find_first_not_of(' ');
  words.remove_prefix(first == std::string_view::npos ? words.size() : first);
  return {reason_of(words), words};
}

// `:n` and nothing behind it.
std::optional<std::uint64_t> whole_number(std::string_view payload) noexcept {
  PayloadReader in(payload);
  const auto number = in.take_number(':');
  if (!in.done()) return std::nullopt;
  return number;
}

void append_minus_one(ByteWriter& out, Spelling spelling) {
  out.bytes(spelling == Spelling::sdk ? kMinusOne : kPageMinusOne);
}

void append_number(ByteWriter& out, std::uint64_t number) {
  out.u8(':');
  out.decimal(number);
  out.bytes(crlf);
}

}  // namespace

void SetReply::encode(ByteWriter& out, Spelling spelling) const {
  if (applied) {
    out.bytes(kOk);
  } else {
    append_minus_one(out, spelling);
  }
}

Parsed<SetReply> SetReply::parse(std::string_view payload) noexcept {
  if (payload == kOk) return SetReply{true};
  if (is_one_of(payload, kMinusOne, kPageMinusOne, kAbsent, kNull)) return SetReply{false};
  return std::unexpected(fault_of(payload));
}

void GetReply::encode(ByteWriter& out) const {
  if (value) {
    append_bulk(out, *value);
  } else {
    out.bytes(kAbsent);
  }
}

Parsed<GetReply> GetReply::parse(std::string_view payload) noexcept {
  if (is_one_of(payload, kAbsent, kNull, kMinusOne)) return GetReply{};
  PayloadReader in(payload);
  const auto size = in.take_number('$');
  if (!size) return std::unexpected(fault_of(payload));
  // The page's rule leaves out the last CRLF; then the length must be exact.
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
  if (is_one_of(payload, kMinusOne, kPageMinusOne)) return VdelReply{Result::differs};
  if (const auto number = whole_number(payload)) {
    return VdelReply{*number > 0 ? Result::removed : Result::absent};
  }
  return std::unexpected(fault_of(payload));
}

void KeyNotifyReply::encode(ByteWriter& out) const {
  if (done) {
    out.bytes(kOk);
  } else {
    append_number(out, 0);
  }
}

Parsed<KeyNotifyReply> KeyNotifyReply::parse(std::string_view payload) noexcept {
  if (payload == kOk) return KeyNotifyReply{true};
  if (whole_number(payload) == 0u) return KeyNotifyReply{false};
  return std::unexpected(fault_of(payload));
}

void ErrorReply::encode(ByteWriter& out, Spelling spelling) const {
  out.bytes(kErrorMark);
  out.bytes(spelling == Spelling::page && to_keynotify ? ": " : " ");
  out.bytes(text_of(error));
  out.bytes(crlf);
}

void Notification::encode(ByteWriter& out, Spelling spelling) const {
  append_array_head(out, value ? 4 : 2);
  append_bulk(out, kNotify);
  if (value) {
    append_bulk(out, kSet);
    append_bulk(out, kValue);
    append_bulk(out, *value);
  } else {
    append_bulk(out, spelling == Spelling::sdk ? kDelete : kPageDelete);
  }
}

Parsed<Notification> Notification::parse(std::string_view payload) noexcept {
  const auto array = BulkArray::parse(payload);
  if (!array || array->count < 2 || !equals_ignoring_case(array->items[0], kNotify)) {
    return std::unexpected(malformed("the payload is no notification"));
  }
  const std::string_view operation = array->items[1];
  if (equals_ignoring_case(operation, kSet)) {
    if (array->count == 4) return Notification{Operation::set, array->items[3]};
    if (array->count == 2) return Notification{Operation::set, std::nullopt};
  }
  if (array->count == 2) {
    for (const std::string_view word : {kDelete, kPageDelete, kExpired}) {
      if (equals_ignoring_case(operation, word)) return Notification{Operation::removed, {}};
    }
  }
  return Notification{Operation::unknown, std::nullopt};
}

}  // namespace sheaf::protocol::statestore
