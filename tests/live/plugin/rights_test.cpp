// The file of rights on a real broker with users: what each may do, and what a reload changes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/live/plugin/shared_options.h"
#include "tests/live/plugin/store_client.h"
#include "tests/support/lent.h"
#include "tests/support/rights_file.h"

namespace sheaf::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view ok = "+OK\r\n";
constexpr std::string_view refused = "-ERR not authorized\r\n";

ConnectOptions as(const std::string& user, std::string client_id = {}) {
  ConnectOptions options;
  options.client_id = client_id.empty() ? user + "-1" : std::move(client_id);
  options.user = user;
  options.password = user;
  return options;
}

TEST(PluginRights, WithoutAFileEveryUserMayEverything) {
  const Lent<BrokerProcess> broker(with_access_control());
  StoreClient ann(broker->port(), as("ann"));
  EXPECT_EQ(ann({"SET", "key", "value"}), ok);
  EXPECT_EQ(ann({"KEYNOTIFY", "key"}), ok);
  EXPECT_EQ(ann({"DEL", "key"}), ":1\r\n");
}

TEST(PluginRights, EachUserMayWhatItsEntrySays) {
  const RightsFile file(R"({"users": {
    "ann": {"keys": {"line4/*": ["read", "write"]}},
    "bob": {"keys": {"line4/*": ["read"], "line4/speed": ["watch"]}}}})");
  const Lent<BrokerProcess> broker(with_rights(file));
  EXPECT_THAT(broker->log(), HasSubstr("sheaf: rights loaded from " + file.path()));
  StoreClient ann(broker->port(), as("ann"));
  StoreClient bob(broker->port(), as("bob"));
  StoreClient eve(broker->port(), as("eve"));
  EXPECT_EQ(bob({"KEYNOTIFY", "line4/speed"}), ok);
  EXPECT_EQ(bob({"KEYNOTIFY", "line4/torque"}), refused);
  EXPECT_EQ(ann({"KEYNOTIFY", "line4/speed"}), refused);
  EXPECT_EQ(ann({"SET", "line4/speed", "21"}), ok);
  EXPECT_EQ(bob({"GET", "line4/speed"}), "$2\r\n21\r\n");
  EXPECT_EQ(eve({"GET", "line4/speed"}), refused);
  EXPECT_EQ(bob({"SET", "line4/speed", "0"}), refused);
  EXPECT_EQ(bob({"DEL", "line4/speed"}), refused);
  EXPECT_EQ(bob({"VDEL", "line4/speed", "21"}), refused);
  EXPECT_EQ(ann({"SET", "line5/speed", "21"}), refused);
  EXPECT_EQ(ann({"GET", "line5/speed"}), refused);
  EXPECT_EQ(ann({"GET", "line4/speed"}), "$2\r\n21\r\n") << "nothing refused was executed";
  EXPECT_TRUE(bob.notification());
  EXPECT_TRUE(ann.no_notification());
  EXPECT_EQ(bob({"KEYNOTIFY", "line4/speed", "STOP"}), ok);
}

TEST(PluginRights, OnlyWhoMayInspectLearnsTheNumbers) {
  const RightsFile file(R"({"users": {"ann": {"inspect": true},
                                      "bob": {"keys": {"*": ["read", "write", "watch"]}}}})");
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient ann(broker->port(), as("ann"));
  StoreClient bob(broker->port(), as("bob"));
  EXPECT_EQ(bob({"SET", "key", "value"}), ok);
  EXPECT_THAT(ann.inspect({"STATS"}), HasSubstr("\nkeys 1\n"));
  EXPECT_EQ(bob.inspect({"STATS"}), refused);
  EXPECT_THAT(broker->log(), HasSubstr("not authorized: user \"bob\", client \"bob-1\", "
                                       "an inspection"));
  file.write(R"({"users": {"bob": {"inspect": true}}})");
  reload(*broker);
  EXPECT_EQ(ann.inspect({"STATS"}), refused);
  EXPECT_THAT(bob.inspect({"STATS"}), HasSubstr("\nkeys 1\n"));
}

TEST(PluginRights, WhoMayLockMayNeitherReplaceNorRemoveWhatIsThere) {
  const RightsFile file(R"({"users": {"ann": {"keys": {"press": ["lock"]}},
                                      "bob": {"keys": {"*": ["read", "write"]}}}})");
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient ann(broker->port(), as("ann"));
  StoreClient bob(broker->port(), as("bob"));
  EXPECT_EQ(ann({"SET", "press", "ann", "NEX", "PX", "60000"}), ok);
  EXPECT_EQ(ann({"SET", "press", "ann", "NEX", "PX", "60000"}), ok) << "renewed";
  EXPECT_EQ(ann({"SET", "press", "eve", "NEX", "PX", "60000"}), ":-1\r\n");
  EXPECT_EQ(ann({"SET", "press", "eve"}), refused);
  EXPECT_EQ(ann({"SET", "press", "eve", "PX", "60000"}), refused);
  EXPECT_EQ(ann({"SET", "press", "eve", "NX", "PX", "60000"}), refused);
  EXPECT_EQ(ann({"SET", "press", "ann", "NEX"}), refused);
  EXPECT_EQ(ann({"DEL", "press"}), refused);
  EXPECT_EQ(ann({"GET", "press"}), refused);
  EXPECT_EQ(ann({"VDEL", "press", "eve"}), ":-1\r\n");
  Outgoing fenced = ann.request(command({"SET", "press", "ann", "NEX", "PX", "60000"}));
  fenced.user.emplace_back("__ft", timestamp());
  EXPECT_EQ(ann.ask(fenced).payload, refused) << "a fence would keep others out";
  EXPECT_EQ(bob({"GET", "press"}), "$3\r\nann\r\n");
  EXPECT_EQ(ann({"VDEL", "press", "ann"}), ":1\r\n");
}

TEST(PluginRights, EntriesOfClientsAndOfEverybodyCountToo) {
  const RightsFile file(R"({"clients": {"press-*": {"keys": {"press/*": ["read"]}}},
                            "everybody": {"keys": {"public": ["read"]}}})");
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient press(broker->port(), as("ann", "press-7"));
  StoreClient other(broker->port(), as("ann", "other"));
  EXPECT_EQ(press({"GET", "press/1"}), "$-1\r\n");
  EXPECT_EQ(other({"GET", "press/1"}), refused);
  EXPECT_EQ(press({"GET", "public"}), "$-1\r\n");
  EXPECT_EQ(other({"GET", "public"}), "$-1\r\n");
}

TEST(PluginRights, AClientWithoutAUserHasWhatItsIdAndEverybodyHave) {
  const RightsFile file(R"({"users": {"press-7": {"keys": {"*": ["write"]}}},
                            "clients": {"press-*": {"keys": {"press/*": ["read"]}}},
                            "everybody": {"keys": {"public": ["read"]}}})");
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient press(broker->port(), "press-7");
  StoreClient other(broker->port(), "other");
  EXPECT_EQ(press({"GET", "press/1"}), "$-1\r\n");
  EXPECT_EQ(press({"SET", "press/1", "1"}), refused) << "a client ID is no user";
  EXPECT_EQ(other({"GET", "press/1"}), refused);
  EXPECT_EQ(other({"GET", "public"}), "$-1\r\n");
  EXPECT_THAT(broker->log(), HasSubstr("not authorized: no user, client \"press-7\", SET of"));
}

TEST(PluginRights, ARefusalIsLoggedAndCountedWithoutTheValue) {
  const RightsFile file("{}");
  Lent<BrokerProcess> broker(with_rights(file));
  StoreClient ann(broker->port(), as("ann"));
  EXPECT_EQ(ann({"SET", "line4/speed", "S3kr3tV4lue"}), refused);
  EXPECT_EQ(ann({"VDEL", "line4/speed", "S3kr3tV4lue"}), refused);
  reload(*broker);
  EXPECT_THAT(broker->log(), HasSubstr("sheaf: state store has 0 keys in 0 bytes; requests 2"));
  EXPECT_THAT(broker->log(), HasSubstr("(not authorized 2, over quota 0)"));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ann({"GET", "line4/speed"}), refused);
  const std::string log = broker.to_break().forget();
  EXPECT_THAT(log, HasSubstr("sheaf: not authorized: user \"ann\", client \"ann-1\", SET of "
                             "\"line4/speed\""));
  EXPECT_THAT(log, Not(HasSubstr("S3kr3tV4lue")));
  EXPECT_THAT(log, HasSubstr("(not authorized 102, over quota 0)"));
  EXPECT_LT(count_of(log, "sheaf: not authorized:"), 40u) << "the log is not flooded";
}

TEST(PluginRights, AWrongFileEndsTheStartWithOneSentence) {
  const RightsFile file(R"({"users": {"ann": {"keys": {"key": ["reed"]}}}})");
  EXPECT_THAT(BrokerProcess::failing_start(with_rights(file)),
              HasSubstr("sheaf: " + file.path() +
                        ": users.ann.keys.key[0] must be read, write, watch or lock"));
}

TEST(PluginRights, AReloadChangesRightsOfClientsThatAreConnected) {
  const RightsFile file(R"({"users": {"ann": {"keys": {"key": ["read"]}}}})");
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient ann(broker->port(), as("ann"));
  EXPECT_EQ(ann({"SET", "key", "1"}), refused);
  file.write(R"({"users": {"ann": {"keys": {"key": ["write"]}}}})");
  EXPECT_EQ(ann({"SET", "key", "1"}), refused) << "before SIGHUP nothing changes";
  reload(*broker);
  EXPECT_EQ(ann({"SET", "key", "1"}), ok);
  EXPECT_EQ(ann({"GET", "key"}), refused);
}

TEST(PluginRights, AWrongFileAtAReloadLeavesTheOldRights) {
  const RightsFile file(R"({"users": {"ann": {"keys": {"key": ["read"]}}}})");
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient ann(broker->port(), as("ann"));
  const std::string kept = "sheaf: the rights are unchanged, because " + file.path();
  file.write("{\"users\": {");
  reload(*broker, kept + ": line 1, column 12: this is not JSON");
  EXPECT_EQ(ann({"GET", "key"}), "$-1\r\n");
  EXPECT_EQ(ann({"SET", "key", "1"}), refused);
  std::filesystem::remove(file.path());
  reload(*broker, kept + " cannot be read: No such file");
  EXPECT_EQ(ann({"GET", "key"}), "$-1\r\n");
  EXPECT_EQ(ann({"SET", "key", "1"}), refused);
  std::filesystem::create_directory(file.path());
  reload(*broker, kept + " is not a regular file");
  EXPECT_EQ(ann({"SET", "key", "1"}), refused);
  std::filesystem::remove(file.path());
  file.write(R"({"everybody": {"keys": {"*": ["write"]}}})");
  reload(*broker);
  EXPECT_EQ(ann({"SET", "key", "1"}), ok);
}

TEST(PluginRights, AClientThatMayNoLongerWatchLosesItsConnectionAndOthersDoNot) {
  const RightsFile file(R"({"everybody": {"keys": {"*": ["watch", "read", "write"]}}})");
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient ann(broker->port(), as("ann"));
  StoreClient bob(broker->port(), as("bob"));
  StoreClient eve(broker->port(), as("eve"));
  EXPECT_EQ(ann({"KEYNOTIFY", "key"}), ok);
  EXPECT_EQ(bob({"KEYNOTIFY", "key"}), ok);
  file.write(R"({"users": {"ann": {"keys": {"*": ["read"]}}, "bob": {"keys": {"key": ["watch"]}},
                           "eve": {"keys": {"key": ["write"]}}}})");
  reload(*broker);
  EXPECT_TRUE(ann.mqtt().wait_end());
  EXPECT_EQ(eve({"SET", "key", "1"}), ok);
  EXPECT_TRUE(bob.notification());
  StoreClient again(broker->port(), as("ann"));
  EXPECT_EQ(again({"KEYNOTIFY", "key"}), refused);
}

TEST(PluginRights, ListenersWithSettingsOfTheirOwnShareThemAndTheStore) {
  const RightsFile file(R"({"users": {"ann": {"keys": {"*": ["read", "write", "watch"]}}}})");
  BrokerOptions options = with_rights(file);
  options.listeners = 2;
  options.per_listener_settings = true;
  BrokerProcess broker(options);
  EXPECT_THAT(broker.log(), HasSubstr("listener 2 shares the state store"));
  StoreClient first(broker.port(0), as("ann", "first"));
  StoreClient second(broker.port(1), as("ann", "second"));
  EXPECT_EQ(second({"KEYNOTIFY", "key"}), ok);
  EXPECT_EQ(first({"SET", "key", "value"}), ok);
  EXPECT_EQ(second({"GET", "key"}), "$5\r\nvalue\r\n");
  EXPECT_TRUE(second.notification());
  EXPECT_EQ(first({"SET", "short", "value", "PX", "1"}), ok);
  EXPECT_EQ(second({"DEL", "key"}), ":1\r\n");
  EXPECT_EQ(second({"KEYNOTIFY", "key", "STOP"}), ok);

  file.write(R"({"users": {"ann": {"keys": {"key": ["read"]}}}})");
  reload(broker);
  for (StoreClient* client : {&first, &second}) {
    EXPECT_EQ((*client)({"SET", "key", "1"}), refused);
    EXPECT_EQ((*client)({"GET", "key"}), "$-1\r\n");
  }
  EXPECT_EQ(count_of(broker.log(), "sheaf: rights reloaded from "), 1u);
  file.write(R"({"users": {"ann": {"keys": {"key": ["write"]}}}})");
  reload(broker);
  for (StoreClient* client : {&first, &second}) EXPECT_EQ((*client)({"SET", "key", "1"}), ok);
  EXPECT_EQ(broker.terminate(), 0) << broker.log();
  EXPECT_EQ(count_of(broker.log(), "sheaf: rights reloaded from "), 2u);
  EXPECT_THAT(broker.log(), HasSubstr("state store ends"));
}

}  // namespace
}  // namespace sheaf::test
