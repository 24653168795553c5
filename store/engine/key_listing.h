#pragma once

// One page of the list of a store's keys. A key that is there from the first page to the last is on
// one of them, whatever is written, removed and expires meanwhile; one that is moved to the place
// of a removed key is on two.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/engine/record_table.h"

namespace sheaf::store {

// What a page may cost: so many records are looked at, with so many bytes of keys, and each of
// these bytes may be compared with each of the pattern.
inline constexpr std::size_t max_listed_records = 1'000;
inline constexpr std::size_t max_listed_bytes = 64 * 1024;  // one longer key is a page of its own
inline constexpr std::size_t max_pattern = 1'024;

struct KeyListing {
  std::uint64_t store = 0;         // the number of this store in cursors
  std::string_view cursors{};      // protocol/statestore/key_page.h
  std::uint64_t count = 0;         // how many records are looked at; 0: the most
  std::string_view pattern = "*";  // base/glob.h
};
// The page; without the keys that have expired.
std::string list_keys(const RecordTable& records, const KeyListing& listing, Deadline mono);
// The milliseconds that a key still lives; "-": it never expires; "absent".
std::string time_to_live(RecordTable& records, std::string_view key, Deadline mono);

}  // namespace sheaf::store
