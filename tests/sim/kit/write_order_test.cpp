// The judge of the order in which operations took effect: what it finds, and what it allows.

#include "tests/sim/kit/write_order.h"

#include <gtest/gtest.h>

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using Findings = std::vector<std::string>;

class WriteOrderTest : public testing::Test {
 protected:
  WriteOrderTest() {
    for (const char* const value : {"k=1", "k=2", "k=3"}) order_.begin_write(0, "k", value);
  }
  // A store stored it, one millisecond after what was stored before.
  void store(const char* value, unsigned which = 0) {
    log_.push_back({Deadline((log_.size() + 1) * 1ms), &stores_[which], value});
  }
  Findings judge() const { return order_.judge(log_); }

  WriteOrder order_;
  ServerLog log_;

 private:
  int stores_[2] = {};
};

TEST_F(WriteOrderTest, WritesInTheOrderOfTheirSubmissionAreRight) {
  for (const char* const value : {"k=1", "k=2", "k=3"}) {
    store(value);
    order_.acknowledge(value);
  }
  EXPECT_EQ(judge(), Findings());
}

TEST_F(WriteOrderTest, AWriteAfterALaterOneIsFound) {
  store("k=2"), store("k=1"), store("k=3");
  order_.acknowledge("k=2"), order_.acknowledge("k=1"), order_.acknowledge("k=3");
  EXPECT_EQ(judge(), Findings{"k=1 was carried out after k=2"});
}

TEST_F(WriteOrderTest, OneThatWasNeverCarriedOutIsNoGapInTheOrder) {
  order_.fail("k=1", Outcome::refused, Deadline(1ms));
  store("k=2"), store("k=3");
  EXPECT_EQ(judge(), Findings());
}

TEST_F(WriteOrderTest, AnUnknownWriteMayComeLateOnlyIfItHadEndedBefore) {
  store("k=2"), store("k=1");  // after 1 ms and 2 ms
  order_.fail("k=1", Outcome::unknown, Deadline(1ms));
  EXPECT_EQ(judge(), Findings());
  store("k=3");
  WriteOrder other;
  other.begin_write(0, "k", "k=1"), other.begin_write(0, "k", "k=2");
  other.fail("k=1", Outcome::unknown, Deadline(1'001us));
  EXPECT_EQ(other.judge(log_), Findings{"k=1 was carried out after k=2"});
}

TEST_F(WriteOrderTest, EachStoreAndEachClientHasAnOrderOfItsOwn) {
  store("k=2", 0), store("k=1", 1);
  order_.begin_write(1, "k", "k=4");
  store("k=4", 1), store("k=3", 1);
  EXPECT_EQ(judge(), Findings());
}

TEST_F(WriteOrderTest, AReadOfAWriteThatWasSubmittedAfterItIsFound) {
  const WriteOrder::Read read = order_.begin_read(0, "k");
  order_.begin_write(0, "k", "k=4");
  order_.end_read(read, "k=4");
  EXPECT_EQ(judge(), Findings{"k=4 was read by a read that was submitted before it"});
}

TEST_F(WriteOrderTest, AReadThatMissesTheLastWriteBeforeItIsFoundIfThatIsAcknowledged) {
  const WriteOrder::Read read = order_.begin_read(0, "k");
  order_.end_read(read, "k=1");
  order_.acknowledge("k=1"), order_.acknowledge("k=2");
  order_.fail("k=3", Outcome::not_sent, Deadline(1ms));
  EXPECT_EQ(judge(), Findings{"k=1 was read by a read that was submitted after k=2"});
}

TEST_F(WriteOrderTest, AReadMayReturnAnUnknownWriteThatCameLate) {
  const WriteOrder::Read read = order_.begin_read(0, "k");
  order_.end_read(read, "k=1");
  order_.fail("k=1", Outcome::unknown, Deadline(0ms));
  order_.acknowledge("k=2"), order_.acknowledge("k=3");
  EXPECT_EQ(judge(), Findings());
}

TEST_F(WriteOrderTest, OperationsThatOverlapAreCounted) {
  EXPECT_EQ(order_.overlaps(), 2u);
  for (const char* const value : {"k=1", "k=2", "k=3"}) order_.acknowledge(value);
  order_.begin_read(0, "k");
  EXPECT_EQ(order_.overlaps(), 2u);
}

}  // namespace
}  // namespace sheaf::sim
