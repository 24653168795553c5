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

// An error to an MSET proves that nothing was stored. The server says that it is one of a cluster,
// so the keys are of one slot.
TEST(ScriptedRing, AnErrorToAnMsetLeavesEachKeyToItsOwnSet) {
  for (const std::string words :
       {"LOADING Redis is loading the dataset in memory", "NOPERM this user has no permissions",
        "ERR unknown command", "CROSSSLOT Keys in request don't hash to the same slot",
        "OOM command not allowed when used memory > 'maxmemory'."}) {
    RingScene scene;
    const std::vector<std::string> keys{"{t}a", "{t}b", "{t}c"};
    std::vector<SetItem> items;
    for (const std::string& key : keys) items.push_back({key, "v"});
    scene.servers.answer(0, "MSET", "-" + words + "\r\n");
    scene.servers.answer(0, "SET {t}b v", "-OOM full\r\n");
    const auto results = scene.client().set_many(items, {.timeout = 5s});
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(in_words(results[0].result), "stored") << words;
    EXPECT_TRUE(in_words(results[1].result).ends_with("OOM full")) << words;
    EXPECT_EQ(in_words(results[2].result), "stored") << words;
    EXPECT_EQ(scene.servers.count(0, "MSET"), 1u);
    EXPECT_EQ(scene.servers.count(0, "SET"), 3u) << words;
  }
}

TEST(ScriptedRing, AnMsetWithoutAnAnswerIsUnknownForEachKeyAndNotRepeated) {
  RingScene scene;
  const std::vector<SetItem> items{{"{t}a", "v"}, {"{t}b", "v"}};
  scene.servers.keep_silent(0, "MSET");
  for (const auto& [key, result] : scene.client().set_many(items, {.timeout = 300ms})) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().outcome, Outcome::unknown) << result.error().message();
  }
  EXPECT_EQ(scene.servers.count(0, "MSET"), 1u);
  EXPECT_EQ(scene.servers.count(0, "SET"), 0u);
}

}  // namespace
}  // namespace sheaf::test
