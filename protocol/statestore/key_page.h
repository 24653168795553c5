#pragma once

// KeyPage: a part of the list of a store's keys, as sheaf's store sends it:
//
//   "17.00c0ffee00c0ffee\n"   where the next page begins; 0 before the dot: this is the last one
//   "3 20 1500\nabc"          a key of 3 bytes, its value has 20 bytes and 1,500 ms to live
//   "1 4 -\nk"                a key that never expires
//
// Cursors of several stores, joined by commas, are one text: each store knows its own by the number
// after the dot, which it chose when it started. One that finds none begins its list.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::protocol::statestore {

struct KeyCursor {
  std::uint64_t place = 0;
  std::uint64_t store = 0;

  std::string text() const;
  static std::optional<KeyCursor> parse(std::string_view text) noexcept;
  friend bool operator==(const KeyCursor&, const KeyCursor&) = default;
};
// The place that the cursor of `store` has among `cursors`; nothing: there is none.
std::optional<std::uint64_t> place_in(std::string_view cursors, std::uint64_t store) noexcept;

struct KeyPage {
  struct Entry {
    std::string_view key;
    std::uint64_t size = 0;                          // of the value
    std::optional<std::chrono::milliseconds> ttl{};  // none: it never expires
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  KeyCursor next;
  std::vector<Entry> entries;

  // Views of `text`. Nothing: it is no page.
  static std::optional<KeyPage> parse(std::string_view text);
};

void append_cursor(std::string& page, const KeyCursor& cursor);
void append_entry(std::string& page, const KeyPage::Entry& entry);

}  // namespace sheaf::protocol::statestore
