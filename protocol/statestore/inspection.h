#pragma once

// What a client asks the store about itself, on a topic that only sheaf's stores know
// (inspection_topic). The envelope is that of a request. The answer is a bulk string, or an error
// as to a request.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <expected>
#include <string_view>
#include <variant>

#include "base/byte_writer.h"
#include "protocol/statestore/errors.h"

namespace sheaf::protocol::statestore {

// The numbers of the store, as lines "NAME VALUE\n".
struct StatsInspection {
  void encode(ByteWriter& out) const;
  friend bool operator==(const StatsInspection&, const StatsInspection&) = default;
};

// The version of the store's software.
struct VersionInspection {
  void encode(ByteWriter& out) const;
  friend bool operator==(const VersionInspection&, const VersionInspection&) = default;
};

using Inspection = std::variant<StatsInspection, VersionInspection>;

// For a store. Accepts what parse_request() does: an array of bulk strings, with verbs in any case.
std::expected<Inspection, StoreError> parse_inspection(std::string_view payload) noexcept;

}  // namespace sheaf::protocol::statestore
