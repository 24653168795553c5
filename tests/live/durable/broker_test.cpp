// A broker with a file: its start, its restarts, and a file that cannot be written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#ifdef SHEAF_TEST_BROKERS
#include <signal.h>
#include <sys/resource.h>

#include <string>

#include <sheaf/client.h>

#include "tests/live/durable/data_folder.h"
#include "tests/support/broker_process.h"
#include "tests/support/rights_file.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::BrokerOptions;
using test::BrokerProcess;
using test::count_of;
using test::DataFolder;
using testing::HasSubstr;
using testing::Not;

BrokerOptions kept_in(const DataFolder& data, const std::string& durability = "acknowledged") {
  BrokerOptions options;
  options.plugin_options = {{"data", data.file()}, {"durability", durability}};
  return options;
}

Client open(const BrokerProcess& broker, const std::string& login = {},
            const std::string& timeout = "60s") {
  auto client = Client::open("mqtt://" + login + "127.0.0.1:" + std::to_string(broker.port()) +
                             "?timeout=" + timeout);
  if (!client) throw std::runtime_error(client.error().message());
  return std::move(*client);
}

// The first read after a restart. The client's calls fail until it has noticed that the broker is
// back.
GetResult get_again(Client& client, std::string_view key) {
  test::wait_for_condition("the broker is back", [&] { return client.get("any").has_value(); });
  return client.get(key).value();
}

TEST(BrokerData, AKilledBrokerHasItsKeysAgain) {
  const DataFolder data;
  BrokerProcess broker(kept_in(data));
  EXPECT_THAT(broker.log(), HasSubstr("kept in " + data.file() + ", durability acknowledged"));
  Client client = open(broker);
  const std::string version = client.set("key", "value").value().version.text;
  client.set("fenced", "value", {.fence = {version}}).value();
  broker.kill();
  broker.restart();
  EXPECT_EQ(get_again(client, "key").value().data, "value");
  EXPECT_EQ(client.get("key")->value().version.text, version);
  EXPECT_EQ(client.set("fenced", "other").error().reason, Reason::fencing_required);
  EXPECT_GT(client.set("key", "other").value().version.text, version);
}

TEST(BrokerData, KeysCountForWhomTheyDidAfterARestart) {
  const DataFolder data;
  const test::RightsFile file(R"({"users": {"ann": {"limits": {"keys": 2}}},
                                  "everybody": {"keys": {"*": ["read", "write"]}}})");
  BrokerOptions options = test::with_rights(file);
  options.plugin_options.push_back({"data", data.file()});
  BrokerProcess broker(options);
  Client ann = open(broker, "ann:ann@");
  ann.set("first", "value").value();
  broker.kill();
  broker.restart();
  EXPECT_EQ(get_again(ann, "first").value().data, "value");
  ann.set("second", "value").value();
  EXPECT_EQ(ann.set("third", "value").error().reason, Reason::quota);
  Client bob = open(broker, "bob:bob@");
  bob.set("first", "of bob").value();
  ann.set("third", "value").value();
}

TEST(BrokerData, AnOrderlyEndSavesEverythingAlsoWithAnInterval) {
  const DataFolder data;
  BrokerProcess broker(kept_in(data, "10s"));
  Client client = open(broker);
  client.set("first", "value").value();
  client.set("key", "value").value();
  EXPECT_EQ(broker.terminate(), 0) << broker.log();
  EXPECT_FALSE(std::filesystem::exists(data.file() + "-wal"));
  broker.restart();
  EXPECT_EQ(get_again(client, "key").value().data, "value");
}

TEST(BrokerData, AnIntervalIsSavedAfterIt) {
  const DataFolder data;
  BrokerProcess broker(kept_in(data, "50ms"));
  Client client = open(broker);
  client.set("first", "value").value();
  const auto wal = [&] { return std::filesystem::file_size(data.file() + "-wal"); };
  const auto before = wal();
  client.set("key", std::string(9000, 'v')).value();
  test::wait_for_condition("the second set is in the file", [&] { return wal() > before; });
  broker.kill();
  broker.restart();
  EXPECT_EQ(get_again(client, "key").value().data.size(), 9000u);
}

TEST(BrokerData, AnswersOfManyRequestsInFlightShareCommits) {
  const DataFolder data;
  BrokerProcess broker(kept_in(data));
  Client client = open(broker);
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) names.push_back("key" + std::to_string(i));
  std::vector<SetItem> items;
  for (const auto& name : names) items.push_back({name, name});
  for (const auto& stored : client.set_many(items, {.timeout = 60s})) {
    EXPECT_TRUE(stored.result.value().stored);
  }
  broker.kill();
  broker.restart();
  EXPECT_TRUE(get_again(client, "key0"));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  for (const auto& [key, result] : client.get_many(keys, {.timeout = 60s})) {
    ASSERT_TRUE(result && *result) << key;
    EXPECT_EQ(result->value().data, key);
  }
}

TEST(BrokerData, AThousandWritesInFlightShareCommits) {
  const DataFolder data;
  BrokerProcess broker(kept_in(data));
  Client client = open(broker);
  std::vector<SetItem> items(1000, {"key", "value"});
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("key" + std::to_string(i));
  for (std::size_t i = 0; i < items.size(); ++i) items[i].key = names[i];
  for (const auto& stored : client.set_many(items, {.timeout = 60s})) stored.result.value();
  EXPECT_EQ(broker.terminate(), 0);
  const std::string log = broker.log();
  const std::string before = "its file was written in ";
  const std::size_t at = log.find(before);
  ASSERT_NE(at, log.npos) << log;
  // How many are in flight at a time depends on the machine: 20 to 560 commits were seen. One
  // commit for each write would be 1,000.
  EXPECT_LT(std::stoi(log.substr(at + before.size())), 900);
}

TEST(BrokerData, ASecondBrokerWithTheSameFileDoesNotStart) {
  const DataFolder data;
  const BrokerProcess first(kept_in(data));
  EXPECT_THAT(BrokerProcess::failing_start(kept_in(data)),
              HasSubstr("sheaf: " + data.file() + " is in use by another store"));
}

TEST(BrokerData, ADamagedFileEndsTheStartWithOneSentence) {
  const DataFolder data;
  {
    BrokerProcess broker(kept_in(data));
    open(broker).set("key", std::string(5000, 'v')).value();
    EXPECT_EQ(broker.terminate(), 0);
  }
  data.damage();
  EXPECT_THAT(BrokerProcess::failing_start(kept_in(data)),
              HasSubstr(data.file() + " is damaged; restore a copy of it"));
}

TEST(BrokerData, AFileThatIsTakenAwayMakesTheStoreReadOnlyUntilItIsBack) {
  const DataFolder data;
  BrokerProcess broker(kept_in(data));
  Client client = open(broker, {}, "500ms");
  client.set("kept", "1").value();
  data.hide();
  EXPECT_EQ(client.set("lost", "1").error().outcome, Outcome::unknown);
  EXPECT_EQ(client.set("other", "1").error().reason, Reason::read_only);
  EXPECT_EQ(client.get("lost").error().reason, Reason::read_only);
  EXPECT_EQ(client.get("kept")->value().data, "1");
  data.unhide();
  test::wait_for_condition("the store writes again",
                           [&] { return client.set("other", "1").has_value(); });
  EXPECT_EQ(client.get("lost")->value().data, "1");
  EXPECT_EQ(count_of(broker.log(), "the store is read-only: " + data.file()), 1u);
  EXPECT_EQ(count_of(broker.log(), "the store can write its file again"), 1u);
  broker.kill();
  broker.restart();
  EXPECT_EQ(get_again(client, "lost").value().data, "1");
}

TEST(BrokerData, AFullDiskMakesTheStoreReadOnlyUntilThereIsRoom) {
  const DataFolder data;
  signal(SIGXFSZ, SIG_IGN);  // inherited by the broker, whose writes then fail
  BrokerProcess broker(kept_in(data));
  signal(SIGXFSZ, SIG_DFL);
  Client client = open(broker, {}, "500ms");
  client.set("kept", "1").value();
  rlimit before{};
  const rlimit small{64 * 1024, RLIM_INFINITY};
  ASSERT_EQ(prlimit(broker.pid(), RLIMIT_FSIZE, &small, &before), 0);
  const std::string large(100'000, 'v');
  EXPECT_EQ(client.set("lost", large).error().outcome, Outcome::unknown);
  EXPECT_EQ(client.set("other", "1").error().reason, Reason::read_only);
  EXPECT_EQ(client.get("kept")->value().data, "1");
  ASSERT_EQ(prlimit(broker.pid(), RLIMIT_FSIZE, &before, nullptr), 0);
  test::wait_for_condition("the store writes again",
                           [&] { return client.set("other", "1").has_value(); });
  broker.kill();
  broker.restart();
  EXPECT_EQ(get_again(client, "kept").value().data, "1");
  EXPECT_EQ(client.get("lost")->value().data, large);
  EXPECT_EQ(client.get("other")->value().data, "1");
}

}  // namespace
}  // namespace sheaf
#endif
