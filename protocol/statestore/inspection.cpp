// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/inspection.h"

#include "protocol/statestore/payload.h"

namespace sheaf::protocol::statestore {
namespace {

constexpr std::string_view stats_verb = "STATS";
constexpr std::string_view version_verb = "VERSION";

void append_verb(ByteWriter& out, std::string_view verb) {
  append_array_head(out, 1);
  append_bulk(out, verb);
}

template <class T>
std::expected<Inspection, StoreError> parse_bare(const BulkArray& array) noexcept {
  if (array.count != 1) return std::unexpected(StoreError::wrong_arguments);
  return T{};
}

}  // namespace

void StatsInspection::encode(ByteWriter& out) const { append_verb(out, stats_verb); }

void VersionInspection::encode(ByteWriter& out) const { append_verb(out, version_verb); }

std::expected<Inspection, StoreError> parse_inspection(std::string_view payload) noexcept {
  const auto array = BulkArray::parse(payload);
  if (!array || array->count == 0) return std::unexpected(StoreError::syntax);
  const std::string_view verb = array->items[0];
  if (equals_ignoring_case(verb, stats_verb)) return parse_bare<StatsInspection>(*array);
  if (equals_ignoring_case(verb, version_verb)) return parse_bare<VersionInspection>(*array);
  return std::unexpected(StoreError::unknown_command);
}

}  // namespace sheaf::protocol::statestore
