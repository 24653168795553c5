// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "protocol/statestore/packets.h"
#include "protocol/statestore/payload.h"

namespace sheaf::protocol::statestore {
namespace {

using Arguments = std::span<const std::string_view>;
using ParsedRequest = std::expected<Request, RequestError>;

constexpr std::string_view set_verb = "SET";
constexpr std::string_view get_verb = "GET";
constexpr std::string_view del_verb = "DEL";
constexpr std::string_view vdel_verb = "VDEL";
constexpr std::string_view keynotify_verb = "KEYNOTIFY";
constexpr std::string_view if_absent_option = "NX";
constexpr std::string_view if_absent_or_equal_option = "NEX";
constexpr std::string_view expiry_option = "PX";
constexpr std::string_view stop_option = "STOP";

void append_one_key(ByteWriter& out, std::string_view verb, std::string_view key) {
  append_array_head(out, 2);
  append_bulk(out, verb);
  append_bulk(out, key);
}

std::uint64_t milliseconds_of(const SetRequest& request) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, request.expiry.count()));
}

// PX takes whole milliseconds from 1; the .NET SDK sends up to 922337203685477.
std::optional<std::chrono::milliseconds> parse_expiry(std::string_view text) noexcept {
  const auto number = parse_decimal(text);
  if (!number || *number == 0 || *number > static_cast<std::uint64_t>(INT64_MAX)) return {};
  return std::chrono::milliseconds(static_cast<std::int64_t>(*number));
}

// Parses the options after the value, in any order, none twice, at most one condition.
bool parse_options(Arguments options, SetRequest& request) noexcept {
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (equals_ignoring_case(options[i], expiry_option)) {
      if (request.expiry.count() != 0 || i + 1 == options.size()) return false;
      const auto expiry = parse_expiry(options[++i]);
      if (!expiry) return false;
      request.expiry = *expiry;
      continue;
    }
    if (request.condition != SetCondition::none) return false;
    if (equals_ignoring_case(options[i], if_absent_option)) {
      request.condition = SetCondition::if_absent;
    } else if (equals_ignoring_case(options[i], if_absent_or_equal_option)) {
      request.condition = SetCondition::if_absent_or_equal;
    } else {
      return false;
    }
  }
  return true;
}

ParsedRequest refuse(StoreError error, bool to_keynotify = false) noexcept {
  return std::unexpected(RequestError{error, to_keynotify});
}

ParsedRequest parse_set(const BulkArray& array) noexcept {
  if (array.count < 3) return refuse(StoreError::wrong_arguments);
  // More than SET, key, value, condition, PX and its number must contain a repeated option.
  if (array.count > BulkArray::kept) return refuse(StoreError::syntax);
  SetRequest request{array.items[1], array.items[2]};
  if (!parse_options(Arguments(array.items).subspan(3, array.count - 3), request)) {
    return refuse(StoreError::syntax);
  }
  if (request.key.empty()) return refuse(StoreError::key_empty);
  return request;
}

ParsedRequest parse_key_notify(const BulkArray& array) noexcept {
  if (array.count < 2 || array.count > 3) return refuse(StoreError::wrong_arguments, true);
  KeyNotifyRequest request{array.items[1]};
  if (array.count == 3) {
    request.stop = equals_ignoring_case(array.items[2], stop_option);
    // GET was an option in 2024 ("send me the value"); notifications carry the value anyway.
    if (!request.stop && !equals_ignoring_case(array.items[2], get_verb)) {
      return refuse(StoreError::syntax, true);
    }
  }
  if (request.key.empty()) return refuse(StoreError::key_empty, true);
  return request;
}

template <class T>
ParsedRequest parse_plain(const BulkArray& array) noexcept {
  constexpr std::size_t arguments = std::is_same_v<T, VdelRequest> ? 3 : 2;
  if (array.count != arguments) return refuse(StoreError::wrong_arguments);
  if (array.items[1].empty()) return refuse(StoreError::key_empty);
  T request{};
  request.key = array.items[1];
  if constexpr (arguments == 3) request.value = array.items[2];
  return request;
}

struct VerbRow {
  std::string_view verb;
  ParsedRequest (*parse)(const BulkArray&) noexcept;
};
constexpr std::array verbs{
    VerbRow{get_verb, parse_plain<GetRequest>}, VerbRow{set_verb, parse_set},
    VerbRow{del_verb, parse_plain<DelRequest>}, VerbRow{vdel_verb, parse_plain<VdelRequest>},
    VerbRow{keynotify_verb, parse_key_notify},
};

}  // namespace

void SetRequest::encode(ByteWriter& out) const {
  encode_head(out);
  out.bytes(value);
  encode_tail(out);
}

void SetRequest::encode_head(ByteWriter& out) const {
  const std::size_t condition_size = condition == SetCondition::none ? 0 : 1;
  append_array_head(out, 3 + condition_size + (milliseconds_of(*this) > 0 ? 2 : 0));
  append_bulk(out, set_verb);
  append_bulk(out, key);
  append_bulk_head(out, value.size());
}

// The condition comes first, as in all SDKs.
void SetRequest::encode_tail(ByteWriter& out) const {
  out.bytes(crlf);
  if (condition == SetCondition::if_absent) append_bulk(out, if_absent_option);
  if (condition == SetCondition::if_absent_or_equal) append_bulk(out, if_absent_or_equal_option);
  const std::uint64_t milliseconds = milliseconds_of(*this);
  if (milliseconds == 0) return;
  append_bulk(out, expiry_option);
  std::size_t digits = 1;
  for (std::uint64_t left = milliseconds; left >= 10; left /= 10) ++digits;
  append_bulk_head(out, digits);
  out.decimal(milliseconds);
  out.bytes(crlf);
}

void GetRequest::encode(ByteWriter& out) const { append_one_key(out, get_verb, key); }

void DelRequest::encode(ByteWriter& out) const { append_one_key(out, del_verb, key); }

void VdelRequest::encode(ByteWriter& out) const {
  encode_head(out);
  out.bytes(value);
  encode_tail(out);
}

void VdelRequest::encode_head(ByteWriter& out) const {
  append_array_head(out, 3);
  append_bulk(out, vdel_verb);
  append_bulk(out, key);
  append_bulk_head(out, value.size());
}

void VdelRequest::encode_tail(ByteWriter& out) const { out.bytes(crlf); }

void KeyNotifyRequest::encode(ByteWriter& out) const {
  append_array_head(out, stop ? 3 : 2);
  append_bulk(out, keynotify_verb);
  append_bulk(out, key);
  if (stop) append_bulk(out, stop_option);
}

std::expected<Request, RequestError> parse_request(std::string_view payload) noexcept {
  const auto array = BulkArray::parse(payload);
  if (!array || array->count == 0) return refuse(StoreError::syntax);
  for (const VerbRow& row : verbs) {
    if (equals_ignoring_case(array->items[0], row.verb)) return row.parse(*array);
  }
  return refuse(StoreError::unknown_command);
}

}  // namespace sheaf::protocol::statestore
