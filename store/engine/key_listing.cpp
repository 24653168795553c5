// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/key_listing.h"

#include <algorithm>

#include "base/glob.h"
#include "protocol/statestore/key_page.h"

namespace sheaf::store {

namespace wire = protocol::statestore;

// Walks from the last place down: an entry that moves goes to a lower place.
std::string list_keys(const RecordTable& records, const KeyListing& listing, Deadline mono) {
  std::size_t place = records.size();
  if (const auto begun = wire::place_in(listing.cursors, listing.store)) {
    place = static_cast<std::size_t>(std::min<std::uint64_t>(*begun, records.size()));
  }
  std::size_t left = max_listed_records;
  if (listing.count > 0)
    left = static_cast<std::size_t>(std::min<std::uint64_t>(listing.count, left));
  std::string entries;
  for (std::size_t bytes = 0; place > 0 && left > 0; --left) {
    const RecordTable::Entry& entry = records.at(place - 1);
    bytes += entry.first.size();
    if (bytes > max_listed_bytes && bytes > entry.first.size()) break;
    --place;
    if (RecordTable::expired(entry, mono) || !matches_glob(listing.pattern, entry.first)) continue;
    wire::KeyPage::Entry listed{entry.first, entry.second.value.size(), {}};
    if (const Deadline end = RecordTable::expiry(entry); end != never) {
      listed.ttl = std::chrono::ceil<std::chrono::milliseconds>(end - mono);
    }
    wire::append_entry(entries, listed);
  }
  std::string page;
  wire::append_cursor(page, {place, listing.store});
  return page.append(entries);
}

std::string time_to_live(RecordTable& records, std::string_view key, Deadline mono) {
  const RecordTable::Entry* const entry = records.find(key);
  if (entry == nullptr || RecordTable::expired(*entry, mono)) return "absent";
  const Deadline end = RecordTable::expiry(*entry);
  if (end == never) return "-";
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(end - mono).count());
}

}  // namespace sheaf::store
