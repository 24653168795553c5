// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/key_page.h"

#include <array>
#include <charconv>

#include "base/text.h"

namespace sheaf::protocol::statestore {
namespace {

constexpr std::size_t id_digits = 16;
constexpr int hexadecimal = 16;

}  // namespace

std::string KeyCursor::text() const {
  std::array<char, id_digits> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), store, hexadecimal);
  return std::to_string(place) + "." + std::string(digits.data(), end.ptr);
}

std::optional<KeyCursor> KeyCursor::parse(std::string_view text) noexcept {
  const auto place = parse_decimal(take_until(text, '.'));
  KeyCursor cursor;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, cursor.store, hexadecimal);
  if (!place || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  cursor.place = *place;
  return cursor;
}

std::optional<std::uint64_t> place_in(std::string_view cursors, std::uint64_t store) noexcept {
  while (!cursors.empty()) {
    const auto cursor = KeyCursor::parse(take_until(cursors, ','));
    if (cursor && cursor->store == store) return cursor->place;
  }
  return std::nullopt;
}

std::optional<KeyPage> KeyPage::parse(std::string_view text) {
  KeyPage page;
  const auto cursor = KeyCursor::parse(take_until(text, '\n'));
  if (!cursor) return std::nullopt;
  page.next = *cursor;
  while (!text.empty()) {
    std::string_view head = take_until(text, '\n');
    const auto key_size = parse_decimal(take_until(head, ' '));
    const auto size = parse_decimal(take_until(head, ' '));
    const auto ttl = parse_decimal(head);
    const bool fits = key_size && *key_size <= text.size();
    constexpr std::uint64_t most = std::chrono::milliseconds::max().count();
    if (!fits || !size || (head != "-" && (!ttl || *ttl > most))) return std::nullopt;
    Entry entry{text.substr(0, *key_size), *size, {}};
    if (ttl) entry.ttl = std::chrono::milliseconds(static_cast<std::int64_t>(*ttl));
    page.entries.push_back(entry);
    text.remove_prefix(*key_size);
  }
  return page;
}

void append_cursor(std::string& page, const KeyCursor& cursor) {
  page.append(cursor.text()).append(1, '\n');
}

void append_entry(std::string& page, const KeyPage::Entry& entry) {
  page.append(std::to_string(entry.key.size())).append(1, ' ');
  page.append(std::to_string(entry.size)).append(1, ' ');
  page.append(entry.ttl ? std::to_string(entry.ttl->count()) : "-").append(1, '\n');
  page.append(entry.key);
}

}  // namespace sheaf::protocol::statestore
