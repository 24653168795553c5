// Secrets that must not leak: passwords to servers outside the cluster, passwords and values into
// errors and logs, even if a server repeats what it received.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/scripted/scene.h"
#include "tests/support/everything_said.h"

namespace sheaf::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* password = "canary-password";
constexpr const char* secret_value = "canary-value";

std::string with_password(const ScriptedCluster& servers) {
  return "redis://app:" + std::string(password) + "@" + servers.address(0);
}

TEST(ScriptedSecrets, NoneReachAServerThatARedirectNamesOutsideTheCluster) {
  for (const std::string word : {"MOVED", "ASK"}) {
    Scene scene(ScriptedCluster::Hosts(3, "127.0.0.1"), {"127.0.0.9"});
    scene.uri = with_password(scene.servers);
    const std::string key = scene.servers.key(1);
    const std::string words = Scene::redirect(word, key, scene.servers.address(3));
    scene.servers.answer(1, "SET", words, ScriptedCluster::always);
    EXPECT_THAT(scene.call(Call::set, key, 60s), HasSubstr("are not allowed"));
    const std::string login = "AUTH app " + std::string(password);
    EXPECT_GE(scene.servers.count(0, login), 1u) << "the seed gets it";
    EXPECT_GE(scene.servers.count(1, login), 1u) << "so does whom the map names";
    EXPECT_TRUE(scene.servers.conversations(3).empty()) << "nothing at all";
  }
}

// Redis repeats the words of a command that it does not know.
TEST(ScriptedSecrets, APasswordThatTheServerRepeatsIsInNoErrorAndNoLog) {
  const std::string echo = std::string("'app' '") + password + "'";
  const std::string refusals[] = {
      "-ERR unknown command 'AUTH', with args beginning with: " + echo + " \r\n",
      "-WRONGPASS " + std::string(password) + " is no password\r\n",
      "-ERR " + std::string(190, 'x') + password + "\r\n"};
  for (const std::string& refusal : refusals) {
    Scene scene;
    EverythingSaid said;
    scene.servers.answer(ScriptedCluster::anyone, "AUTH", refusal, ScriptedCluster::always);
    {
      auto client = Client::open(with_password(scene.servers), {.log = said.sink()}).value();
      const auto refused = client.get("key", {.timeout = 2s});
      ASSERT_FALSE(refused);
      said.add(refused.error());
      for (const NodeReport& report : client.check_nodes({.timeout = 2s})) {
        ASSERT_TRUE(report.error);
        said.add(*report.error);
      }
    }
    EXPECT_THAT(said.text(), HasSubstr("the server refused AUTH"));
    EXPECT_THAT(said.text(), Not(HasSubstr("canary")));
  }
}

TEST(ScriptedSecrets, AValueThatTheServerRepeatsIsInNoErrorAndNoLog) {
  Scene scene;
  EverythingSaid said;
  const std::string key = scene.servers.key(0);
  scene.servers.answer(ScriptedCluster::anyone, "SET",
                       "-ERR unknown command 'SET', with args beginning with: '" + key + "' '" +
                           secret_value + "' \r\n");
  scene.servers.keep_silent(0, "SET", 1);
  {
    auto client = Client::open(scene.servers.uri({0}), {.log = said.sink()}).value();
    for (const auto timeout : {20'000ms, 500ms}) {  // refused, and without an answer
      const auto refused = client.set(key, secret_value, {.timeout = timeout});
      ASSERT_FALSE(refused);
      said.add(refused.error());
    }
    const auto refused = client.set(key, std::string(20u << 20, 'x') + secret_value);
    ASSERT_FALSE(refused);
    said.add(refused.error());
  }
  EXPECT_THAT(said.text(), HasSubstr("unknown command 'SET'"));
  EXPECT_THAT(said.text(), Not(HasSubstr("canary")));
  EXPECT_THAT(said.text(), HasSubstr(" set #")) << "the key as a hash";
  EXPECT_THAT(said.text(), Not(HasSubstr(" set " + key)));
}

// The inodes of TCP sockets that listen in this process.
std::set<std::string> listeners() {
  std::set<std::string> listening;
  for (const char* const table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(table);
    std::string line;
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::vector<std::string> fields;
      for (std::string word; words >> word;) fields.push_back(word);
      if (fields.size() > 9 && fields[3] == "0A") listening.insert("socket:[" + fields[9] + "]");
    }
  }
  std::set<std::string> own;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (listening.contains(target)) own.insert(target);
  }
  return own;
}

TEST(ScriptedSecrets, AClientListensOnNoPort) {
  Scene scene;
  const std::set<std::string> servers = listeners();
  ASSERT_EQ(servers.size(), 3u) << "they are in this process";
  const std::string key = scene.servers.key(1);
  EXPECT_EQ(scene.call(Call::get, key), success_of(Call::get, key, 1));
  EXPECT_EQ(listeners(), servers);
}

}  // namespace
}  // namespace sheaf::test
