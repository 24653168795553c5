// Standalone servers, with routing=ring: a request waits for a server that asks for patience, and
// goes to no other.

#include <gtest/gtest.h>

#include <string>

#include "tests/scripted/scene.h"

namespace sheaf::test {
namespace {

// One server, so it has every key.
struct RingScene : Scene {
  RingScene() : Scene({"127.0.0.1"}, {"127.0.0.1"}) { uri = servers.uri({0}) + "?routing=ring"; }
};

TEST(ScriptedRing, AServerThatAsksForPatienceIsAskedAgain) {
  for_every_call([](Call call) {
    for (const std::string words :
         {"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script.",
          "MASTERDOWN Link with MASTER is down"}) {
      RingScene scene;
      const std::string key = scene.servers.key(0);
      const std::string command = command_of(call, key);
      scene.servers.answer(0, command, "-" + words + "\r\n", 3);
      EXPECT_EQ(scene.call(call, key), success_of(call, key, 0)) << words;
      EXPECT_EQ(scene.servers.count(0, command), 4u);
      scene.servers.answer(0, command, "-" + words + "\r\n", ScriptedCluster::always);
      EXPECT_EQ(scene.call(call, key, 300ms),
                "refused, timed out: " + words + " (no time is left for another attempt)");
    }
  });
}

TEST(ScriptedRing, AServerOfAClusterIsRefusedInOneSentence) {
  for (const std::string word : {"MOVED", "ASK"}) {
    for_every_call([&](Call call) {
      RingScene scene;
      const std::string key = scene.servers.key(0);
      const std::string words = Scene::redirect(word, key, scene.servers.address(1));
      scene.servers.answer(0, command_of(call, key), words);
      EXPECT_EQ(scene.call(call, key), "refused: " + words.substr(1, words.size() - 3) +
                                           " (routing=ring is for standalone servers; servers of a "
                                           "cluster need routing=cluster)");
      EXPECT_TRUE(scene.servers.conversations(1).empty());
    });
  }
}

}  // namespace
}  // namespace sheaf::test
