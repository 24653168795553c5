// plugin_opt_tokens on a real broker: who is let in without a token, and which lists are refused.
// tests/cli/test_dev_pod.py has clients with tokens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/live/plugin/store_client.h"
#include "tests/support/broker_process.h"
#include "tests/support/temporary_folder.h"

namespace sheaf::test {
namespace {

using testing::HasSubstr;

constexpr unsigned not_authorized = 0x87;

class PluginTokens : public testing::Test {
 protected:
  PluginTokens() {
    write("token\n");
    options.plugin_options = {{"tokens", path()}};
  }
  std::string path() const { return folder.file("tokens"); }
  void write(const std::string& lines) const {
    std::ofstream(path()) << lines;
    std::filesystem::permissions(
        path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  static ConnectOptions as(const std::string& user, const std::string& password) {
    ConnectOptions who;
    who.client_id = "one";
    who.user = user;
    who.password = password;
    return who;
  }
  static unsigned reason(const BrokerProcess& broker, const ConnectOptions& who) {
    return MqttClient(broker.port(), who).connack_reason();
  }

  TemporaryFolder folder;
  BrokerOptions options;
};

TEST_F(PluginTokens, WithoutATokenAClientNeedsAUserOfTheBroker) {
  options.users = {{"ann", "ann"}};
  options.anonymous_too = true;
  const BrokerProcess broker(options);
  EXPECT_EQ(reason(broker, as("", "")), not_authorized);
  EXPECT_EQ(reason(broker, as("ann", "wrong")), not_authorized);
  EXPECT_EQ(reason(broker, as("bob", "ann")), not_authorized);
  StoreClient store(broker.port(), as("ann", "ann"));
  EXPECT_EQ(store({"SET", "key", "1"}), "+OK\r\n");
  broker.reload("Reloading config.");
  EXPECT_EQ(store({"SET", "key", "2"}), "+OK\r\n") << "a reload ends no connection";
}

TEST_F(PluginTokens, AListThatEverybodyMayReadEndsTheStartWithOneSentence) {
  std::filesystem::permissions(path(), std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(BrokerProcess::failing_start(options),
              HasSubstr("sheaf: " + path() + " is readable by every user of this machine"));
}

TEST_F(PluginTokens, SoDoesOneThatIsMissingOrTooLong) {
  write(std::string(64 * 1024 + 1, 'x'));
  EXPECT_THAT(BrokerProcess::failing_start(options), HasSubstr(path() + " is longer than 64 KiB"));
  std::filesystem::remove(path());
  EXPECT_THAT(BrokerProcess::failing_start(options),
              HasSubstr(path() + " cannot be read: No such file"));
}

}  // namespace
}  // namespace sheaf::test
