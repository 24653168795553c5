// Bytes that are not a reply, in the middle of a whole client's work.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include <sheaf/async.h>

#include "tests/scripted/scene.h"

namespace sheaf::test {
namespace {

using Commands = Scene::Commands;

// How a read, a write, a conditional write and a removal end that are outstanding on one connection
// when these bytes come, in two parts.
class Garbage {
 public:
  Garbage(const std::string& bytes, std::size_t split) {
    for (unsigned i = 0; i < std::size(every_call); ++i) {
      keys.push_back(scene.servers.key(0, i));
      commands.push_back(command_of(every_call[i], keys[i]));
    }
    EXPECT_EQ(scene.call(Call::get, scene.servers.key(0, 9)), "0/" + scene.servers.key(0, 9));
    // The server answers nothing before the last command has come.
    for (unsigned i = 0; i < 3; ++i) scene.servers.script(0, commands[i], {});
    scene.servers.script(
        0, commands[3],
        {{.bytes = bytes.substr(0, split)}, {.bytes = bytes.substr(split), .delay = 1ms}});
    const AsyncClient client = scene.client().async();
    SetOptions add;
    add.condition = SetCondition::if_absent;
    add.timeout = 20s;
    const SetOptions plain{.timeout = 20s};
    auto got = client.get(keys[0], {.timeout = 20s}).future();
    auto stored = client.set(keys[1], "v", plain).future();
    auto added = client.set(keys[2], "v", add).future();
    RemoveOptions remove;
    remove.timeout = 20s;
    auto removed = client.remove(keys[3], remove).future();
    ends = {in_words(got.get()), in_words(stored.get()), in_words(added.get()),
            in_words(removed.get())};
  }
  void expect_unknown(std::size_t from, const std::string& what) {
    for (std::size_t i = from; i < ends.size(); ++i) {
      EXPECT_TRUE(ends[i].starts_with("unknown, protocol error: ")) << what << ": " << ends[i];
    }
    for (const std::string& command : commands) {
      EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, command), 1u) << what;
    }
  }
  // Checks that the client continues.
  void expect_recovered(const std::string& what) {
    const std::string key = scene.servers.key(0, 10);
    EXPECT_EQ(scene.call(Call::get, key, 20s), "0/" + key) << what;
    EXPECT_EQ(scene.call(Call::get, scene.servers.key(1), 20s), "1/" + scene.servers.key(1));
  }

  Scene scene;
  Commands keys;
  Commands commands;
  Commands ends;
};

std::string shown(const std::string& bytes, std::size_t at, std::size_t split) {
  return testing::PrintToString(bytes) + " at " + std::to_string(at) + ", split at " +
         std::to_string(split);
}

TEST(ScriptedGarbage, AByteThatBeginsNoReplyAtAnyPlaceAndSplitIsNeverAValue) {
  const std::string reply = "$5\r\nhello\r\n";
  const std::string others = "+OK\r\n+OK\r\n:1\r\n";
  for (std::size_t at = 0; at <= reply.size(); ++at) {
    const std::string bytes = reply.substr(0, at) + '\0' + reply.substr(at) + others;
    for (const std::size_t split : {at, at + 1, reply.size() + 1}) {
      Garbage garbage(bytes, split);
      const std::string what = shown(bytes, at, split);
      const bool whole = at == reply.size();
      EXPECT_EQ(garbage.ends[0] == "hello", whole) << what;
      garbage.expect_unknown(whole ? 1 : 0, what);
      if (split == at) garbage.expect_recovered(what);
    }
  }
}

// Garnet 2.2.5 sends this for an expired key.
TEST(ScriptedGarbage, ABufferOfNothing) {
  for (const std::string& bytes :
       {std::string(131'072, '\0'), "$5\r\nhello\r\n" + std::string(131'072, '\0'),
        "$5\r\nhello\r\n+OK\r\n" + std::string(131'072, '\0')}) {
    Garbage garbage(bytes, bytes.size() / 2);
    const bool hello = bytes.starts_with("$5");
    const bool stored = bytes.size() > 131'072 + 11;
    EXPECT_EQ(garbage.ends[0] == "hello", hello);
    EXPECT_EQ(garbage.ends[1] == "stored", stored);
    garbage.expect_unknown(stored ? 2 : hello ? 1 : 0, std::to_string(bytes.size()));
    garbage.expect_recovered(std::to_string(bytes.size()));
  }
}

// One reply too many or too few puts all later ones out of step.
TEST(ScriptedGarbage, AReplyOfAnotherTypeIsNeverAValue) {
  for (const std::string& bytes : {std::string(":1\r\n"), std::string("+OK\r\n"),
                                   std::string("*2\r\n$1\r\na\r\n$1\r\nb\r\n")}) {
    Garbage garbage(bytes + "$5\r\nhello\r\n+OK\r\n+OK\r\n:1\r\n", 1);
    garbage.expect_unknown(0, bytes);
    garbage.expect_recovered(bytes);
  }
}

// The same in the reply to a redirected request, which is not sent a third time.
TEST(ScriptedGarbage, AfterARedirect) {
  for (const std::string word : {"MOVED", "ASK"}) {
    for_every_call([&](Call call) {
      Scene scene;
      const std::string key = scene.servers.key(0);
      const std::string command = command_of(call, key);
      scene.servers.answer(0, command, Scene::redirect(word, key, scene.servers.address(1)));
      scene.servers.answer(1, command, std::string(1'000, '\0'));
      const std::string end = scene.call(call, key);
      EXPECT_TRUE(end.starts_with("unknown, protocol error: ")) << end;
      EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, command), 2u);
      EXPECT_EQ(scene.call(Call::get, scene.servers.key(1), 20s), "1/" + scene.servers.key(1));
    });
  }
}

// A map that cannot be read ends its connection, and other servers are asked.
TEST(ScriptedGarbage, InsteadOfAMap) {
  Scene scene;
  scene.uri = scene.servers.uri({0, 1, 2});
  scene.servers.answer(0, "CLUSTER NODES", std::string(1'000, '\0'), ScriptedCluster::always);
  scene.servers.answer(1, "CLUSTER NODES", "$9\r\nx 1.1.1.1?\r\n", ScriptedCluster::always);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string key = scene.servers.key(i);
    EXPECT_EQ(scene.call(Call::get, key, 20s), std::to_string(i) + "/" + key);
  }
}

}  // namespace
}  // namespace sheaf::test
