#pragma once

// What a client asks the store about itself, on a topic that only sheaf's stores know
// (inspection_topic). The envelope is that of a request. The answer is a bulk string, or an error
// as to a request.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <expected>
#include <optional>
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

// A page of the store's keys (key_page.h): those among the next `count` records that match the
// pattern (base/glob.h), from the store's own cursor on. `cursors` "-": from the beginning.
struct KeysInspection {
  std::uint64_t count = 0;
  std::string_view cursors;
  std::string_view pattern;

  void encode(ByteWriter& out) const;
  friend bool operator==(const KeysInspection&, const KeysInspection&) = default;
};

// How long a key still lives: its milliseconds, "-" if it never expires, "absent".
struct TtlInspection {
  std::string_view key;

  void encode(ByteWriter& out) const;
  friend bool operator==(const TtlInspection&, const TtlInspection&) = default;
};

using Inspection = std::variant<StatsInspection, VersionInspection, KeysInspection, TtlInspection>;

// For a client, from the group of a question for statistics: "", "keys COUNT CURSORS PATTERN", "ttl
// KEY". Nothing: there is no such group.
std::optional<Inspection> inspection_of_group(std::string_view group) noexcept;

// For a store. Accepts what parse_request() does: an array of bulk strings, with verbs in any case.
std::expected<Inspection, StoreError> parse_inspection(std::string_view payload) noexcept;

}  // namespace sheaf::protocol::statestore
