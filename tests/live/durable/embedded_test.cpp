// In-process engines that keep their data in a file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/list.h>
#include <sheaf/locker.h>

#include "tests/live/durable/data_folder.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::DataFolder;
using testing::EndsWith;
using testing::HasSubstr;

// A busy disk may take seconds.
Client open(const DataFolder& data, const std::string& more = "", unsigned engines = 1) {
  auto client = Client::open("embedded://" + std::to_string(engines) +
                             "?timeout=60s&data=" + data.file() + more);
  if (!client) throw std::runtime_error(client.error().message());
  return std::move(*client);
}

TEST(EmbeddedData, KeysVersionsAndTimesToLiveAreThereAfterReopening) {
  const DataFolder data;
  std::string version;
  {
    Client client = open(data);
    version = client.set("key", "value").value().version.text;
    client.set("short", "value", {.ttl = 1ms}).value();
    client.set("long", "value", {.ttl = 1h}).value();
    client.set("gone", "value").value();
    client.remove("gone").value();
  }
  Client client = open(data);
  EXPECT_EQ(client.get("key")->value().data, "value");
  EXPECT_EQ(client.get("key")->value().version.text, version);
  EXPECT_TRUE(client.get("long").value());
  EXPECT_FALSE(client.get("short").value());
  EXPECT_FALSE(client.get("gone").value());
  EXPECT_GT(client.set("key", "other").value().version.text, version);
}

// Each form that writes asks for one key and does not ask for another.
TEST(EmbeddedData, OfEachFormOnlyWhatAskedIsThereAfterReopening) {
  const DataFolder data;
  const std::string asked = "&persist=asked";
  {
    Client client = open(data, asked);
    client.set("set", "1", {.persist = true}).value();
    client.set("not", "1").value();
    const SetItem items[] = {{"many-a", "1"}, {"many-b", "1"}};
    for (const auto& [key, stored] : client.set_many(items, {.persist = true})) stored.value();
    const SetItem others[] = {{"not-many", "1"}};
    for (const auto& [key, stored] : client.set_many(others)) stored.value();
    client.set("{l}read", "1", {.persist = true}).value();
    client.set("{l}not-read", "1", {.persist = true}).value();
    Locker locker(client);
    LockResult lock = locker.lock("l");
    lock->write("{l}written", "1", {.persist = true}).value();
    lock->write("{l}not-written", "1").value();
    lock->read("{l}read", {.persist = true}).value();
    lock->read("{l}not-read").value();
    List kept(client, "kept", {.persist = true});
    List lost(client, "lost");
    for (int i = 0; i < 600; ++i) {  // several segments
      kept.push(std::to_string(i)).value();
      lost.push(std::to_string(i)).value();
    }
    List(client, "kept").push("by a handle that does not ask").value();
    List(client, "lost", {.persist = true}).push("by one that asks").value();
    List(client, "kept").remove(0).value();
  }
  Client client = open(data, asked);
  for (const char* key : {"set", "many-a", "many-b", "{l}read", "{l}written"}) {
    EXPECT_TRUE(client.get(key).value()) << key;
  }
  for (const char* key : {"not", "not-many", "{l}not-read", "{l}not-written", "l"}) {
    EXPECT_FALSE(client.get(key).value()) << key;
  }
  const auto items = List(client, "kept").range(0, -1).value();
  EXPECT_EQ(items.size(), 600u);
  EXPECT_EQ(items.front(), "1");
  EXPECT_EQ(items.back(), "by a handle that does not ask");
  EXPECT_EQ(List(client, "lost").length().value(), 0u);
}

TEST(EmbeddedData, EachEngineHasItsFile) {
  const DataFolder data;
  {
    Client client = open(data, "", 3);
    for (int i = 0; i < 30; ++i) client.set("key" + std::to_string(i), "value").value();
  }
  Client client = open(data, "", 3);
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(client.get("key" + std::to_string(i)).value()) << i;
}

// The acknowledgement of the set comes before the interval ends, and the keep-alive is long, so
// neither makes the loop look at the engine in time.
TEST(EmbeddedData, AnIntervalSavesWithoutACall) {
  const DataFolder data;
  Client client = open(data, "&durability=100ms&keep_alive=600s");
  client.set("key", std::string(9000, 'v')).value();
  const auto wal = [&] { return std::filesystem::file_size(data.file() + "-wal"); };
  const auto before = wal();
  client.set("other", std::string(9000, 'v')).value();
  test::wait_for_condition("the second set is in the file", [&] { return wal() > before; });
}

TEST(EmbeddedData, WhatIsWrongWithAFileIsOneSentence) {
  const DataFolder data;
  {
    open(data).set("key", std::string(5000, 'v')).value();
  }
  {
    const Client first = open(data, "&name=first");
    const auto second = Client::open("embedded://1?name=second&data=" + data.file());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().reason, Reason::bad_configuration);
    EXPECT_EQ(second.error().text, data.file() + " is in use by another store");
  }
  data.damage();
  const auto client = Client::open("embedded://1?data=" + data.file());
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().text, HasSubstr("is damaged; restore a copy of it"));
}

TEST(EmbeddedData, BadOptionsAreOneSentence) {
  const auto client = Client::open("embedded://1?data=x&durability=1m");
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().text, EndsWith("durability must be acknowledged, or a duration from "
                                            "1ms to 10s, such as 100ms, not \"1m\""));
}

TEST(EmbeddedData, AStoreThatCannotWriteIsReadOnlyUntilItCan) {
  const DataFolder data;
  Client client = open(data);
  client.set("kept", "1").value();
  data.hide();
  // The commit fails, so the outcome of this one is unknown.
  const auto lost = client.set("lost", "1");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().outcome, Outcome::unknown);
  const auto refused = client.set("other", "1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::refused) << refused.error().message();
  EXPECT_EQ(refused.error().reason, Reason::read_only);
  EXPECT_EQ(client.get("lost").error().reason, Reason::read_only);
  EXPECT_EQ(client.get("kept")->value().data, "1");
  data.unhide();
  test::wait_for_condition("the store writes again",
                           [&] { return client.set("other", "1").has_value(); });
  EXPECT_EQ(client.get("lost")->value().data, "1");
}

// Writes 1, 2, 3, ... to one key and reports each number once it is acknowledged, until it is
// killed.
[[noreturn]] void write_for_ever(const DataFolder& data, int told) {
  Client client = open(data);
  for (std::uint64_t number = 1;; ++number) {
    const auto done = client.set("number", std::to_string(number));
    if (!done) _exit(3);
    if (write(told, &number, sizeof number) != sizeof number) _exit(4);
  }
}

TEST(EmbeddedData, AKilledProcessHasLostNothingThatItWasTold) {
  const DataFolder data;
  std::string newest;
  for (unsigned round = 0; round < 20; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(pipe[0]);
      write_for_ever(data, pipe[1]);
    }
    close(pipe[1]);
    std::uint64_t told = 0;
    for (unsigned i = 0; i < 5 + 7 * round; ++i) {
      ASSERT_EQ(read(pipe[0], &told, sizeof told), static_cast<ssize_t>(sizeof told));
    }
    kill(child, SIGKILL);
    for (std::uint64_t number; read(pipe[0], &number, sizeof number) == sizeof number;) {
      told = number;
    }
    close(pipe[0]);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);

    Client client = open(data);
    const auto got = client.get("number");
    ASSERT_TRUE(got && *got) << "round " << round;
    EXPECT_GE(std::stoull(got->value().data), told);
    EXPECT_LE(std::stoull(got->value().data), told + 1);
    const std::string version = client.set("number", "0").value().version.text;
    EXPECT_GT(got->value().version.text, newest);
    EXPECT_GT(version, got->value().version.text);
    newest = version;
  }
}

}  // namespace
}  // namespace sheaf
