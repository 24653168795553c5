// Transcripts of reads: what a reader requests, answer by answer.

#include "client/list/reader.h"

#include <gtest/gtest.h>

#include "tests/client/list/wire.h"

namespace sheaf::client::list {
namespace {

using namespace std::chrono_literals;
using protocol::Status;
using protocol::Verb;

constexpr std::uint64_t old_store = 7;  // connections
constexpr std::uint64_t new_store = 8;

class ListReader : public testing::Test {
 protected:
  // Reads the head, which names one segment of two items and a tail of one.
  void read_head(std::uint64_t connection = old_store) {
    Head head;
    head.revision = 1;
    head.next = 9;
    head.segments = {{5, 2}};
    head.tail = {8};
    wire.answer(wire.wants(Verb::get, keys.head()), Status::done, "v", encode_head(head),
                connection);
  }
  void read_segment(const std::vector<Id>& ids, std::uint64_t connection = old_store) {
    const calls::Command& command = wire.wants(Verb::get, keys.segment(5));
    EXPECT_EQ(command.connection, connection);
    wire.answer(command, Status::done, "v", encode_segment(ids), connection);
  }
  void read_item(Id id, const std::string& value, std::uint64_t connection = old_store) {
    const calls::Command& command = wire.wants(Verb::get, keys.item(id));
    EXPECT_EQ(command.connection, connection);
    wire.answer(command, Status::done, "v", value, connection);
  }
  std::vector<std::string> items() {
    if (!reader->done()) return {"not done"};
    auto out = reader->take_out();
    return out ? out->items : std::vector{out.error().text};
  }

  Keys keys{"jobs"};
  std::unique_ptr<Reader> reader =
      Reader::range(keys, 0, -1, {.started = 1'000s, .deadline = 1'005s, .step_timeout = 1s});
  Wire<Reader> wire{*reader};

 private:
  void SetUp() override { reader->start(wire.now); }
};

TEST_F(ListReader, ReadsTheHeadTheSegmentsAndTheItems) {
  read_head();
  read_segment({1, 2});
  read_item(1, "a");
  read_item(2, "b");
  read_item(8, "c");
  EXPECT_EQ(items(), (std::vector<std::string>{"a", "b", "c"}));
  wire.wants_nothing();
}

// The store has lost its memory and counts its ids from 1 again, so the same head says nothing
// about the contents of its segments.
TEST_F(ListReader, SegmentsOfAnEarlierConnectionAreReadAgain) {
  read_head();
  read_segment({1, 2});
  read_item(1, "old a");
  wire.fail(wire.wants(Verb::get, keys.item(2)), Outcome::unknown, Reason::connection_lost);
  read_head(new_store);
  read_segment({3, 1}, new_store);
  read_item(3, "new a", new_store);
  read_item(1, "new b", new_store);
  read_item(8, "new c", new_store);
  EXPECT_EQ(items(), (std::vector<std::string>{"new a", "new b", "new c"}));
}

TEST_F(ListReader, ItemsOfAnEarlierConnectionAreReadAgain) {
  read_head();
  read_segment({1, 2});
  read_item(1, "old a");
  wire.fail(wire.wants(Verb::get, keys.item(2)), Outcome::unknown, Reason::connection_lost);
  read_head(new_store);
  read_segment({1, 2}, new_store);
  read_item(1, "new a", new_store);
  read_item(2, "new b", new_store);
  read_item(8, "new c", new_store);
  EXPECT_EQ(items(), (std::vector<std::string>{"new a", "new b", "new c"}));
}

// Data read on one connection stays valid, even if the head has changed.
TEST_F(ListReader, WhatWasReadOnTheSameConnectionIsNotReadAgain) {
  read_head();
  read_segment({1, 2});
  read_item(1, "a");
  wire.answer(wire.wants(Verb::get, keys.item(2)), Status::absent);  // the head was an old one
  Head head;
  head.revision = 2;
  head.next = 9;
  head.segments = {{5, 2}};
  wire.answer(wire.wants(Verb::get, keys.head()), Status::done, "v", encode_head(head));
  read_item(2, "b");
  EXPECT_EQ(items(), (std::vector<std::string>{"a", "b"}));
  wire.wants_nothing();
}

// Each head that names something missing may have been overtaken by the next one.
TEST_F(ListReader, WhatIsMissingIsAnErrorOnlyIfTheHeadStillNamesIt) {
  read_head();
  read_segment({1, 2});
  Head head;
  head.revision = 1;
  head.next = 9;
  for (const std::vector<SegmentRef>& table : {std::vector<SegmentRef>{{5, 2}}, {}}) {
    wire.answer(wire.wants(Verb::get, keys.item(1)), Status::absent);
    ++head.revision;
    head.segments = table;
    head.tail = {8};
    wire.answer(wire.wants(Verb::get, keys.head()), Status::done, "v", encode_head(head));
  }
  read_item(8, "c");
  EXPECT_EQ(items(), std::vector<std::string>{"c"});
}

TEST_F(ListReader, AnEmptyItemIsAnItem) {
  read_head();
  read_segment({1, 2});
  read_item(1, "");
  read_item(2, "b");
  read_item(8, "");
  EXPECT_EQ(items(), (std::vector<std::string>{"", "b", ""}));
}

TEST_F(ListReader, AnEmptyItemIsNoHole) {
  reader =
      Reader::with_holes(keys, 0, -1, {.started = 1'000s, .deadline = 1'005s, .step_timeout = 1s});
  Wire<Reader> holes(*reader);
  reader->start(holes.now);
  Head head;
  head.revision = 1;
  head.next = 9;
  head.tail = {7, 8};
  const std::string bytes = encode_head(head);
  holes.answer(holes.wants(Verb::get, keys.head()), Status::done, "v", bytes);
  const calls::Command& first = holes.wants(Verb::get, keys.item(7));
  const calls::Command& second = holes.wants(Verb::get, keys.item(8));
  holes.answer(first, Status::done, "v", "");
  holes.answer(second, Status::absent);
  holes.answer(holes.wants(Verb::get, keys.head()), Status::done, "v", bytes);
  ASSERT_TRUE(reader->done());
  const ReadOutcome read = reader->take_out().value();
  ASSERT_EQ(read.holes.size(), 1u);
  EXPECT_EQ(read.holes[0].item, 8u);
}

TEST_F(ListReader, CancelledItIsDoneAndWantsNothingMore) {
  read_head();
  const calls::Command& segment = wire.wants(Verb::get, keys.segment(5));
  EXPECT_TRUE(reader->on_cancel(wire.now));
  ASSERT_TRUE(reader->done());
  wire.answer(segment, Status::done, "v", encode_segment({1, 2}));
  wire.wants_nothing();
  const auto out = reader->take_out();
  EXPECT_EQ(out.error().reason, Reason::cancelled);
  EXPECT_EQ(out.error().outcome, Outcome::not_sent);
}

}  // namespace
}  // namespace sheaf::client::list
