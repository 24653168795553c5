// Pages of the keys of a store whose table changes between them.

#include "store/engine/key_listing.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/random.h"
#include "protocol/statestore/key_page.h"

namespace sheaf::store {
namespace {

using namespace std::chrono_literals;
using protocol::statestore::KeyPage;

constexpr std::uint64_t this_store = 0xabc;

RecordTable::Entry& put(RecordTable& records, const std::string& key, Deadline expiry = never,
                        std::string_view value = "v") {
  return records.put(records.find(key), key, value, expiry);
}

struct Listed {
  std::multiset<std::string> keys;
  std::string cursors = "-";
  bool over = false;
};

void list_page(const RecordTable& records, Listed& listed, Deadline mono, std::uint64_t count = 0,
               std::string_view pattern = "*") {
  const std::string text = list_keys(records, {this_store, listed.cursors, count, pattern}, mono);
  const auto page = KeyPage::parse(text);
  ASSERT_TRUE(page) << text;
  ASSERT_EQ(page->next.store, this_store);
  for (const KeyPage::Entry& entry : page->entries) listed.keys.emplace(entry.key);
  listed.cursors = page->next.text();
  listed.over = page->next.place == 0;
}

TEST(KeyListing, AnEntryHasItsSizeAndTimeToLive) {
  RecordTable records(1);
  put(records, "mortal", Deadline(10s), "12345");
  const auto text = list_keys(records, {.store = this_store}, Deadline(8'500ms));
  const auto page = KeyPage::parse(text);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->next, (protocol::statestore::KeyCursor{0, this_store}));
  EXPECT_EQ(page->entries, (std::vector<KeyPage::Entry>{{"mortal", 5, 1'500ms}}));
  EXPECT_EQ(list_keys(records, {.store = this_store}, Deadline(10s)), "0.abc\n") << "expired";
}

TEST(KeyListing, APageIsBounded) {
  RecordTable records(1);
  for (int i = 0; i < 2'500; ++i) put(records, "key" + std::to_string(i));
  Listed listed;
  list_page(records, listed, {});
  EXPECT_EQ(listed.keys.size(), max_listed_records);
  list_page(records, listed, {}, 7);
  EXPECT_EQ(listed.keys.size(), max_listed_records + 7);
  Listed none;
  list_page(records, none, {}, 0, "no key");
  EXPECT_TRUE(none.keys.empty());
  EXPECT_FALSE(none.over) << "records that do not match count, too";
}

TEST(KeyListing, LongKeysMakeShortPages) {
  RecordTable records(1);
  put(records, std::string(3 * max_listed_bytes, 'a'));
  put(records, std::string(max_listed_bytes - 1, 'b'));
  put(records, "c");
  put(records, "d");
  Listed listed;
  for (const std::size_t keys : {2u, 3u, 4u}) {
    EXPECT_FALSE(listed.over);
    list_page(records, listed, {});
    EXPECT_EQ(listed.keys.size(), keys);
  }
  EXPECT_TRUE(listed.over);
}

TEST(KeyListing, AStoreThatWasStartedAgainBeginsAgain) {
  RecordTable records(1);
  put(records, "a");
  put(records, "b");
  EXPECT_EQ(list_keys(records, {this_store, "1.999,0.77", 1, "*"}, {}), "1.abc\n1 1 -\nb");
  EXPECT_EQ(list_keys(records, {this_store, "1.999,1.abc", 1, "*"}, {}), "0.abc\n1 1 -\na");
  EXPECT_EQ(list_keys(records, {this_store, "0.abc", 1, "*"}, {}), "0.abc\n");
  EXPECT_EQ(list_keys(records, {this_store, "99.abc", 1, "*"}, {}), "1.abc\n1 1 -\nb");
}

// Between pages keys are written, removed, expire and come back, so that the table grows, shrinks
// and is hashed again. What stays all the time is listed, and what was never there is not.
TEST(KeyListing, AKeyThatStaysIsListedWhateverHappensBetweenPages) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    RecordTable records(seed);
    std::set<std::string> stay;
    std::set<std::string> known;
    Deadline mono{};
    const auto some_key = [&] { return "k" + std::to_string(random.below(2'000)); };
    const auto write = [&] {
      const std::string key = some_key();
      known.insert(key);
      put(records, key,
          random.below(3) == 0 ? mono + 1s * static_cast<int>(1 + random.below(9)) : never);
      if (RecordTable::expiry(*records.find(key)) != never) stay.erase(key);
    };
    for (std::uint64_t left = random.below(1'500); left > 0; --left) write();
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (RecordTable::expiry(records.at(i)) == never) stay.insert(records.at(i).first);
    }
    Listed listed;
    const std::uint64_t count = 1 + random.below(100);
    const bool grows = random.below(2) == 0;
    for (int pages = 0; !listed.over; ++pages) {
      ASSERT_LT(pages, 2'000) << "seed " << seed;
      list_page(records, listed, mono, count);
      for (std::uint64_t left = random.below(100); left > 0; --left) {
        if (grows ? random.below(3) > 0 : random.below(3) == 0) {
          write();
        } else if (RecordTable::Entry* const entry = records.find(some_key())) {
          stay.erase(entry->first);
          records.erase(*entry);
        }
      }
      mono += 1s * static_cast<int>(random.below(3));
      while (records.next_to_expire() != nullptr &&
             RecordTable::expired(*records.next_to_expire(), mono)) {
        records.erase(*records.next_to_expire());
      }
    }
    for (const std::string& key : stay) {
      ASSERT_TRUE(listed.keys.contains(key)) << key << ", seed " << seed;
    }
    for (const std::string& key : listed.keys) ASSERT_TRUE(known.contains(key)) << key;
  }
}

}  // namespace
}  // namespace sheaf::store
