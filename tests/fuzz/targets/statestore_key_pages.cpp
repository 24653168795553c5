// Pages of a store's list of keys, and the cursors of several stores in one text.

#include "protocol/statestore/key_page.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::statestore;

std::string written(const KeyPage& page) {
  std::string text;
  append_cursor(text, page.next);
  for (const KeyPage::Entry& entry : page.entries) append_entry(text, entry);
  return text;
}

bool is_part(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

void check_page(std::string_view text) {
  const auto page = KeyPage::parse(text);
  if (!page) return;
  for (const KeyPage::Entry& entry : page->entries) {
    expect(entry.key.empty() || is_part(entry.key, text), "a key is a part of the text");
  }
  const std::string again = written(*page);
  const auto parsed = KeyPage::parse(again);
  expect(parsed && parsed->next == page->next && parsed->entries == page->entries,
         "a page that is written parses to itself");
}

void check_cursors(std::string_view texts) {
  const auto cursor = KeyCursor::parse(texts);
  if (!cursor) return;
  expect(KeyCursor::parse(cursor->text()) == cursor, "a cursor that is written parses to itself");
  expect(place_in(texts, cursor->store) == cursor->place, "a store finds its own cursor");
  const std::string of_two = KeyCursor{1, ~cursor->store}.text() + "," + cursor->text();
  expect(place_in(of_two, cursor->store) == cursor->place, "a store finds it behind another's");
}

}  // namespace

void run(std::string_view bytes) {
  check_page(bytes);
  check_cursors(bytes);
}

std::vector<std::string> seeds() {
  KeyPage page;
  page.next = {17, 0x00c0ffee00c0ffee};
  std::vector<std::string> all{page.next.text(), KeyCursor{}.text(), "1.2,3.4", written(page)};
  page.entries = {{"abc", 20, std::chrono::milliseconds(1'500)}, {"k", 4, {}}, {"", 0, {}}};
  all.push_back(written(page));
  return all;
}

}  // namespace sheaf::fuzz
