// keys and ttl: their words and lines, the lines of memcached's list, and which servers of a
// cluster are scanned.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/percent.h"
#include "cli/line/key_words.h"
#include "cli/listing/dump_line.h"
#include "cli/listing/scan_plan.h"
#include "cli/show/json_lines.h"
#include "cli/show/key_lines.h"
#include "cli/system/output.h"
#include "protocol/resp/wire/reply_tree.h"
#include "tests/cli/command_lines.h"

namespace sheaf::cli {
namespace {

using namespace std::chrono_literals;

TEST(Listing, WordsAreAPatternAndColumns) {
  const auto all = parsed<ListingWords>({"keys"});
  EXPECT_EQ(all.pattern, "*");
  EXPECT_FALSE(all.ttl || all.size || all.raw);
  const auto some = parsed<ListingWords>({"keys", "a*", "--ttl", "--size", "--limit", "7"});
  EXPECT_EQ(some.pattern, "a*");
  EXPECT_TRUE(some.ttl && some.size);
  EXPECT_EQ(some.limit, 7u);
  EXPECT_EQ(refusal_of({"keys", "--limit", "0"}),
            "--limit is \"0\", not a number from 1 to 1000000000000.");
  EXPECT_EQ(refusal_of({"keys", ""}), "PATTERN is empty, which no key is; * stands for all keys.");
  EXPECT_EQ(parsed<KeysWords>({"ttl", "a", "b"}).keys, (std::vector<std::string>{"a", "b"}));
}

TEST(Listing, ALineHasTheColumnsThatWereAskedFor) {
  const ListedKey key{"a", 17s, 3u};
  EXPECT_EQ(key_line(key, {}, false), "a");
  EXPECT_EQ(key_line(key, {.ttl = true}, false), "a\t17");
  EXPECT_EQ(key_line(key, {.ttl = true, .size = true}, false), "a\t17\t3");
  EXPECT_EQ(key_line({"a", {}, {}}, {.ttl = true, .size = true}, false), "a\t-\t-");
  EXPECT_EQ(json_listed(key, {.ttl = true, .size = true}), R"({"key":"a","ttl":17,"size":3})");
  EXPECT_EQ(json_listed({"\xff", {}, {}}, {.ttl = true}), R"({"key_base64":"/w==","ttl":null})");
  EXPECT_EQ(json_listed(key, {}), R"({"key":"a"})");
  EXPECT_EQ(json_ttl("a", TimeToLive(17s)), R"({"key":"a","exists":true,"ttl":17})");
  EXPECT_EQ(json_ttl("a", TimeToLive()), R"({"key":"a","exists":true,"ttl":null})");
  EXPECT_EQ(json_ttl("a", std::nullopt), R"({"key":"a","exists":false})");
}

TEST(Listing, AKeyIsOneWordThatIsNoOthers) {
  EXPECT_EQ(key_line({"a\tb\nc\x1b", {}, {}}, {}, false), "a\\x09b\\x0Ac\\x1B");
  EXPECT_EQ(key_line({"a\\x09b", {}, {}}, {}, false), "a\\x5Cx09b") << "as the key is written";
  EXPECT_EQ(key_line({"caf\xc3\xa9", {}, {}}, {}, false), "caf\xc3\xa9");
  EXPECT_EQ(key_line({"\xc2\x9b", {}, {}}, {}, false), "\\xC2\\x9B") << "a control character";
  EXPECT_EQ(key_line({"\xff", {}, {}}, {}, false), "\\xFF");
  EXPECT_EQ(key_line({"a\tb\\", {}, {}}, {}, true), "a\tb\\");
  EXPECT_EQ(shown("a\tb\n\\", ShownAs::lines), "a\tb\n\\");
}

TEST(DumpLine, KeysAreDecoded) {
  EXPECT_EQ(item_of_dump_line("key=a%20b%25 exp=-1 la=17 cas=4 fetch=no size=61")->key, "a b%");
  EXPECT_EQ(item_of_dump_line("key=plain")->key, "plain");
  for (const char* line : {"", "END", "key=", "key= exp=-1", "key=%2", "key=%zz exp=1",
                           "ERROR lru crawler disabled", "VALUE key=a"}) {
    EXPECT_FALSE(item_of_dump_line(line)) << line;
  }
}

TEST(DumpLine, AnItemHasItsExpiryAndSize) {
  const auto mortal = item_of_dump_line("key=a exp=1700000100 la=17 cas=4 fetch=no cls=1 size=61");
  EXPECT_EQ(mortal->expiry, 1'700'000'100);
  EXPECT_EQ(mortal->size, 61u);
  EXPECT_EQ(item_of_dump_line("key=a exp=-1 size=61 ")->expiry, std::nullopt);
  EXPECT_EQ(item_of_dump_line("key=a exp=x size=")->size, std::nullopt);
}

TEST(DumpLine, AListBeginsAtOnceOrWithOkAndItsLinesMayEndInABlank) {
  using enum DumpLine::Kind;
  EXPECT_EQ(read_dump_line("OK").kind, begin) << "memcached 1.6.45";
  const DumpLine line = read_dump_line("key=a exp=-1 la=1 cas=2 fetch=no cls=1 size=61 flags=0 ");
  EXPECT_EQ(line.kind, item);
  EXPECT_EQ(line.item.key, "a");
  EXPECT_EQ(read_dump_line("END").kind, end);
  EXPECT_EQ(read_dump_line("BUSY currently processing crawler request").kind, busy);
  EXPECT_EQ(read_dump_line("CLIENT_ERROR unauthenticated").kind, login);
  EXPECT_EQ(read_dump_line("ERROR").kind, other);
  EXPECT_EQ(read_dump_line("OK ").kind, other);
}

TEST(DumpLine, AnyBytesComeBack) {
  std::string key;
  for (int c = 0; c < 256; ++c) key.push_back(static_cast<char>(c));
  EXPECT_EQ(percent_decode(percent_encode(key)), key);
  EXPECT_EQ(percent_encode(key).find_first_of(" \n\r"), std::string::npos);
}

// A holder of the slots first .. last.
SlotHolder holder(const std::string& id, std::size_t first, std::size_t last) {
  SlotHolder made{id + ":6379", id, {}, {}};
  for (std::size_t slot = first; slot <= last; ++slot) made.owned.set(slot);
  return made;
}

// "a:6379 all, b:6379 7 8": which servers are scanned, and for which slots.
std::string text_of(const std::vector<ScanPlan::Scan>& scans) {
  std::string text;
  for (const ScanPlan::Scan& scan : scans) {
    text += (text.empty() ? "" : ", ") + scan.node;
    if (scan.slots.all()) {
      text += " all";
      continue;
    }
    for (std::size_t slot = 0; slot < scan.slots.size(); ++slot) {
      if (scan.slots.test(slot)) text += " " + std::to_string(slot);
    }
  }
  return text;
}

TEST(ScanPlan, EveryServerIsScannedOnceIfNoSlotMoves) {
  ScanPlan plan;
  const std::vector holders{holder("a", 0, 9'000), holder("b", 9'001, 16'383)};
  EXPECT_EQ(text_of(plan.next(holders)), "a:6379 all, b:6379 all");
  EXPECT_EQ(text_of(plan.next(holders)), "");
  EXPECT_EQ(plan.orphan(holders), -1);
}

TEST(ScanPlan, AServerIsScannedAgainForTheSlotsThatItGained) {
  ScanPlan plan;
  (void)plan.next({holder("a", 0, 9'000), holder("b", 9'001, 16'383)});
  EXPECT_EQ(text_of(plan.next({holder("a", 0, 8'998), holder("b", 8'999, 16'383)})),
            "b:6379 8999 9000");
  // They move on during that scan.
  const std::vector moved{holder("a", 0, 8'998), holder("b", 9'001, 16'383),
                          holder("c", 8'999, 9'000)};
  EXPECT_EQ(text_of(plan.next(moved)), "c:6379 8999 9000");
  EXPECT_EQ(text_of(plan.next(moved)), "");
}

TEST(ScanPlan, AServerThatImportsASlotIsScannedAgainForItOnce) {
  ScanPlan plan;
  std::vector holders{holder("a", 0, 9'000), holder("b", 9'001, 16'383)};
  holders[1].importing.set(7);
  EXPECT_EQ(text_of(plan.next(holders)), "a:6379 all, b:6379 all");
  EXPECT_EQ(text_of(plan.next(holders)), "b:6379 7");
  EXPECT_EQ(text_of(plan.next(holders)), "");
}

TEST(ScanPlan, ASlotThatNobodyOwnsAnyMoreIsNamed) {
  ScanPlan plan;
  EXPECT_EQ(plan.orphan({}), -1) << "nothing was listed yet";
  (void)plan.next({holder("a", 0, 9'000), holder("b", 9'001, 16'383)});
  EXPECT_EQ(plan.orphan({holder("a", 0, 9'000)}), 9'001);
  EXPECT_EQ(text_of(plan.next({holder("a", 0, 9'000), holder("new", 9'001, 9'001)})),
            "new:6379 9001");
}

TEST(ScanPlan, AServerOutsideAClusterHasNoSlotsAndIsScanned) {
  ScanPlan plan;
  const std::vector alone{SlotHolder{"a:6379", {}, {}, {}}};
  EXPECT_EQ(text_of(plan.next(alone)), "a:6379 all");
  EXPECT_EQ(text_of(plan.next(alone)), "");
}

TEST(ScanPlan, AServerSaysWhatItOwnsAndImports) {
  const std::string text =
      "id1 10.0.0.1:6379@16379 myself,master - 0 0 3 connected 0-2 9 [7-<-id2] [1->-id2]\n"
      "id2 10.0.0.2:6379@16379 master - 0 1 2 connected 3-8\n";
  const protocol::resp::Element element{.type = protocol::resp::Type::text,
                                        .size = static_cast<std::uint32_t>(text.size())};
  const auto view = protocol::resp::parse_cluster_nodes({&element, text.data()}, {.host = "h"});
  ASSERT_TRUE(view) << view.error();
  SlotHolder read;
  ASSERT_TRUE(read_holder(*view, read));
  EXPECT_EQ(read.id, "id1");
  EXPECT_EQ(text_of({{"owned", read.owned}, {"importing", read.importing}}),
            "owned 0 1 2 9, importing 7");
}

}  // namespace
}  // namespace sheaf::cli
