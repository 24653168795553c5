// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/inspection.h"

#include <string>

#include "base/text.h"
#include "protocol/statestore/payload.h"

namespace sheaf::protocol::statestore {
namespace {

constexpr std::string_view stats_verb = "STATS";
constexpr std::string_view version_verb = "VERSION";
constexpr std::string_view keys_verb = "KEYS";
constexpr std::string_view ttl_verb = "TTL";

void append_verb(ByteWriter& out, std::string_view verb) {
  append_array_head(out, 1);
  append_bulk(out, verb);
}

template <class T>
std::expected<Inspection, StoreError> parse_bare(const BulkArray& array) noexcept {
  if (array.count != 1) return std::unexpected(StoreError::wrong_arguments);
  return T{};
}

std::expected<Inspection, StoreError> parse_keys(const BulkArray& array) noexcept {
  if (array.count != 4) return std::unexpected(StoreError::wrong_arguments);
  const auto count = parse_decimal(array.items[1]);
  if (!count) return std::unexpected(StoreError::syntax);
  return KeysInspection{*count, array.items[2], array.items[3]};
}

std::expected<Inspection, StoreError> parse_ttl(const BulkArray& array) noexcept {
  if (array.count != 2) return std::unexpected(StoreError::wrong_arguments);
  return TtlInspection{array.items[1]};
}

}  // namespace

void StatsInspection::encode(ByteWriter& out) const { append_verb(out, stats_verb); }

void VersionInspection::encode(ByteWriter& out) const { append_verb(out, version_verb); }

void KeysInspection::encode(ByteWriter& out) const {
  append_array_head(out, 4);
  append_bulk(out, keys_verb);
  append_bulk(out, std::to_string(count));
  append_bulk(out, cursors);
  append_bulk(out, pattern);
}

void TtlInspection::encode(ByteWriter& out) const {
  append_array_head(out, 2);
  append_bulk(out, ttl_verb);
  append_bulk(out, key);
}

std::optional<Inspection> inspection_of_group(std::string_view group) noexcept {
  if (group.empty()) return StatsInspection{};
  const std::string_view name = take_until(group, ' ');
  if (name == "ttl") return TtlInspection{group};
  if (name != "keys") return std::nullopt;
  const auto count = parse_decimal(take_until(group, ' '));
  if (!count) return std::nullopt;
  const std::string_view cursors = take_until(group, ' ');
  return KeysInspection{*count, cursors, group};
}

std::expected<Inspection, StoreError> parse_inspection(std::string_view payload) noexcept {
  const auto array = BulkArray::parse(payload);
  if (!array || array->count == 0) return std::unexpected(StoreError::syntax);
  const std::string_view verb = array->items[0];
  if (equals_ignoring_case(verb, stats_verb)) return parse_bare<StatsInspection>(*array);
  if (equals_ignoring_case(verb, version_verb)) return parse_bare<VersionInspection>(*array);
  if (equals_ignoring_case(verb, keys_verb)) return parse_keys(*array);
  if (equals_ignoring_case(verb, ttl_verb)) return parse_ttl(*array);
  return std::unexpected(StoreError::unknown_command);
}

}  // namespace sheaf::protocol::statestore
