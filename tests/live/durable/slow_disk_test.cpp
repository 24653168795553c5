// In-process engines with a file, while the disk takes longer than callers want to wait.

#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include <sheaf/async.h>
#include <sheaf/client.h>

#include "tests/live/durable/data_folder.h"
#include "tests/live/durable/held_disk.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

class EmbeddedSlowDisk : public testing::Test {
 protected:
  Client open() {
    return Client::open("embedded://1?name=slow&timeout=60s&data=" + data_.file()).value();
  }
  // Begins a write, which the disk then holds.
  auto begin_set() {
    auto set = client_.async().set("key", "new").future();
    test::wait_for_condition("the disk is at work", [this] { return disk_.waiting() > 0; });
    return set;
  }

  test::DataFolder data_;
  test::HeldDisk disk_;
  Client client_ = open();
};

TEST_F(EmbeddedSlowDisk, CallsEndByTheirOwnDeadlines) {
  client_.set("key", "old").value();
  disk_.hold();
  const auto set = client_.set("key", "new", {.timeout = 20ms});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().outcome, Outcome::unknown);
  EXPECT_EQ(set.error().reason, Reason::timed_out);
  Client other = open();
  for (Client* client : {&client_, &other}) {
    const auto got = client->get("key", {.timeout = 20ms});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().reason, Reason::timed_out);
    const auto removed = client->remove("other", {.timeout = 20ms});
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().reason, Reason::timed_out);
  }
  EXPECT_GT(disk_.waiting(), 0u) << "they have waited for the disk";
  disk_.let_go();
  EXPECT_EQ(client_.get("key")->value().data, "new");
}

TEST_F(EmbeddedSlowDisk, AStopTokenEndsACall) {
  disk_.hold();
  auto set = begin_set();
  std::stop_source source;
  GetOptions options;
  const std::stop_token token = source.get_token();
  options.stop = &token;
  auto got = client_.async().get("key", options).future();
  source.request_stop();
  const auto ended = got.get();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().reason, Reason::cancelled);
  EXPECT_GT(disk_.waiting(), 0u) << "it has waited for the disk";
  disk_.let_go();
  EXPECT_TRUE(set.get());
}

TEST_F(EmbeddedSlowDisk, AWriteIsAcknowledgedOnceItIsSaved) {
  disk_.hold();
  auto set = begin_set();
  EXPECT_EQ(set.wait_for(20ms), std::future_status::timeout);
  disk_.let_go();
  EXPECT_TRUE(set.get());
}

}  // namespace
}  // namespace sheaf
