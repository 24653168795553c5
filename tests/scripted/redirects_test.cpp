// Redirects of single calls that are followed, with what every server receives.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/scripted/scene.h"

namespace sheaf::test {
namespace {

using Commands = Scene::Commands;
using Hosts = ScriptedCluster::Hosts;

const Hosts three(3, "127.0.0.1");

// Server 0 redirects every call once, with these words, and server `to` carries it out. No server
// receives a command twice.
void expect_followed(Scene& scene, Call call, const std::string& words, std::size_t to) {
  const std::string key = scene.servers.key(0);
  const std::string command = command_of(call, key);
  scene.servers.answer(0, command, words);
  EXPECT_EQ(scene.call(call, key), success_of(call, key, to)) << name_of(call) << ' ' << words;
  for (std::size_t i = 0; i < scene.servers.size(); ++i) {
    const Commands expected(i == 0 || i == to ? 1 : 0, command);
    EXPECT_EQ(scene.servers.requests(i), expected) << i << ' ' << name_of(call) << ' ' << words;
  }
}

// ASKING, the command and PING come together, without a plain GET directly after them.
void expect_asked(const Scene& scene, std::size_t server, const std::string& command) {
  std::size_t asked = 0;
  for (const Commands& all : scene.servers.conversations(server)) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] != "ASKING") continue;
      ++asked;
      ASSERT_LT(i + 2, all.size());
      EXPECT_EQ(all[i + 1], command);
      EXPECT_EQ(all[i + 2], "PING");
    }
  }
  EXPECT_EQ(asked, 1u);
}

TEST(ScriptedRedirects, MovedToAServerOfTheMap) {
  for_every_call([&](Call call) {
    Scene scene;
    const std::string key = scene.servers.key(0);
    expect_followed(scene, call, scene.moved(key, 1), 1);
    scene.servers.forget_scripts();
    EXPECT_EQ(scene.call(Call::get, key), "1/" + key) << "the slot has moved";
    EXPECT_EQ(scene.call(Call::get, scene.servers.key(0, 1)), "0/" + scene.servers.key(0, 1));
    EXPECT_EQ(scene.servers.requests(0).size(), 2u);
  });
}

TEST(ScriptedRedirects, MovedToAServerThatTheMapDoesNotNameOnAHostOfTheCluster) {
  for_every_call([&](Call call) {
    Scene scene(three, {"127.0.0.1"});
    expect_followed(scene, call, scene.moved(scene.servers.key(0), 3), 3);
  });
}

TEST(ScriptedRedirects, MovedWithoutAHostMeansTheHostThatAnswered) {
  for_every_call([&](Call call) {
    Scene scene(Hosts(2, "127.0.0.2"), Hosts(1, "127.0.0.2"));
    const std::string key = scene.servers.key(0);
    expect_followed(scene, call, Scene::redirect("MOVED", key, ":" + scene.port(2)), 2);
  });
}

// Also with brackets, which no server sends.
TEST(ScriptedRedirects, MovedToAnIpv6Address) {
  if (!ScriptedCluster::has_address("::1")) GTEST_SKIP() << "this machine has no ::1";
  for (const std::string host : {"::1", "[::1]"}) {
    for_every_call([&](Call call) {
      Scene scene({"127.0.0.1", "::1"}, {"::1"});
      const std::string key = scene.servers.key(0);
      const std::size_t to = call == Call::get ? 1 : 2;
      expect_followed(scene, call, Scene::redirect("MOVED", key, host + ":" + scene.port(to)), to);
    });
  }
}

TEST(ScriptedRedirects, MovedToAHostByNameThatTheConfigurationNames) {
  for_every_call([&](Call call) {
    Scene scene(three, {"127.0.0.1"});
    scene.uri = "redis://localhost:" + scene.port(0);
    const std::string key = scene.servers.key(0);
    expect_followed(scene, call, Scene::redirect("MOVED", key, "localhost:" + scene.port(3)), 3);
  });
}

// Another server may have the same address by now.
TEST(ScriptedRedirects, MovedToItselfIsFollowedOverANewConnection) {
  for_every_call([&](Call call) {
    Scene scene;
    const std::string key = scene.servers.key(0);
    const std::string command = command_of(call, key);
    scene.servers.answer(0, command, scene.moved(key, 0));
    EXPECT_EQ(scene.call(call, key), success_of(call, key, 0));
    std::vector<std::uint64_t> connections;
    for (const auto& each : scene.servers.log()) {
      if (each.command == command) connections.push_back(each.connection);
    }
    ASSERT_EQ(connections.size(), 2u);
    EXPECT_NE(connections[0], connections[1]);
  });
}

// One of the keys has moved and one has not, until the last of them moves.
TEST(ScriptedRedirects, ACommandForKeysOnBothSidesOfAMigrationWaitsForItsEnd) {
  Scene scene;
  const std::string tag = "{" + scene.servers.key(0) + "}";
  Command command({"MGET", tag + "a", tag + "b"});
  command.keys({tag + "a", tag + "b"});
  constexpr unsigned times = 8;
  scene.servers.answer(0, "MGET", scene.ask(tag, 1), ScriptedCluster::always);
  scene.servers.answer(1, "MGET", "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
                       times);
  scene.servers.answer(1, "MGET", "*2\r\n$1\r\nx\r\n$1\r\ny\r\n");
  const auto reply = scene.client().execute(command, {.timeout = 20s});
  ASSERT_TRUE(reply) << in_words(reply.error());
  EXPECT_EQ(scene.servers.count(0, "MGET"), times + 1);
  EXPECT_EQ(scene.servers.count(1, "MGET"), times + 1);
  EXPECT_EQ(scene.servers.count(1, "ASKING"), times + 1);
}

TEST(ScriptedRedirects, AskIsFollowedOnceAndTeachesNothing) {
  for_every_call([&](Call call) {
    for (const std::size_t to : {std::size_t{1}, std::size_t{3}}) {
      Scene scene(three, {"127.0.0.1"});
      const std::string key = scene.servers.key(0);
      expect_followed(scene, call, scene.ask(key, to), to);
      expect_asked(scene, to, command_of(call, key));
      scene.servers.forget_scripts();
      EXPECT_EQ(scene.call(Call::get, key), "0/" + key);
    }
  });
}

TEST(ScriptedRedirects, AskWithoutAHostMeansTheHostThatAnswered) {
  for_every_call([&](Call call) {
    Scene scene(Hosts(2, "127.0.0.2"), Hosts(1, "127.0.0.2"));
    const std::string key = scene.servers.key(0);
    expect_followed(scene, call, Scene::redirect("ASK", key, ":" + scene.port(2)), 2);
    expect_asked(scene, 2, command_of(call, key));
  });
}

// Garnet does this if it prefers host names and knows none.
TEST(ScriptedRedirects, AskByAServerThatKnowsNoHostLeadsToTheServerWithThatPort) {
  for_every_call([&](Call call) {
    Scene scene;
    const std::string key = scene.servers.key(0);
    expect_followed(scene, call, Scene::redirect("ASK", key, "?:" + scene.port(1)), 1);
    expect_asked(scene, 1, command_of(call, key));
  });
}

// If all servers have that port, only the server's own map says where the slot migrates to.
TEST(ScriptedRedirects, AskByAServerThatKnowsNoHostLeadsToWhomItsMapNames) {
  for_every_call([&](Call call) {
    Scene scene(Hosts{"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}, {}, true);
    const std::string key = scene.servers.key(0);
    const std::string other = scene.servers.key(0, 1);
    EXPECT_EQ(scene.call(Call::get, other), "0/" + other) << "the first map is there";
    scene.servers.migrate(protocol::resp::hash_slot(key), 2);
    const std::string ask = Scene::redirect("ASK", key, "?:" + scene.port(2));
    scene.servers.answer(0, command_of(call, key), ask, ScriptedCluster::always);
    EXPECT_EQ(scene.call(call, key, 60s), success_of(call, key, 2));
    expect_asked(scene, 2, command_of(call, key));
    EXPECT_EQ(scene.servers.requests(1), Commands());
    EXPECT_EQ(scene.servers.requests(3), Commands());
    EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, "CLUSTER NODES"), 2u);
  });
}

// It may have been carried out, and a second execution would return its own value.
TEST(ScriptedRedirects, AGetAndSetIsFollowedButNotRepeatedWithoutAnAnswer) {
  Scene scene;
  const std::string key = scene.servers.key(0);
  const std::string command = "SET " + key + " v GET";
  scene.servers.answer(0, command, scene.moved(key, 1));
  scene.servers.answer(1, command, "$3\r\nold\r\n");
  EXPECT_EQ(in_words(scene.client().get_and_set(key, "v")), "old");
  scene.servers.script(1, command, {{.close = true}});
  const std::string end = in_words(scene.client().get_and_set(key, "v"));
  EXPECT_TRUE(end.starts_with("unknown, connection lost: ")) << end;
  EXPECT_EQ(scene.servers.requests(0), Commands{command});
  EXPECT_EQ(scene.servers.requests(1), (Commands{command, command}));
}

// Garnet takes a run of GETs that come together as one command.
TEST(ScriptedRedirects, NoGetOfOthersFollowsAnAskingPairDirectly) {
  Scene scene;
  Commands keys;
  for (unsigned i = 0; i < 32; ++i) {
    keys.push_back(scene.servers.key(i % 2 == 0 ? 0 : 1, i));
    if (i % 2 != 0) continue;
    // A batch on its own connection leaves redirects to the usual one, which asks again.
    scene.servers.answer(0, "GET " + keys.back(), scene.ask(keys.back(), 1),
                         ScriptedCluster::always);
  }
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  for (const auto& [key, result] : scene.client().get_many(views, {.timeout = 5s})) {
    EXPECT_EQ(in_words(result), "1/" + key);
  }
  std::size_t asked = 0;
  for (const Commands& all : scene.servers.conversations(1)) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] != "ASKING") continue;
      ++asked;
      ASSERT_LT(i + 2, all.size());
      EXPECT_TRUE(all[i + 1].starts_with("GET "));
      EXPECT_EQ(all[i + 2], "PING");
    }
  }
  EXPECT_EQ(asked, 16u);
}

TEST(ScriptedRedirects, AskAndThenMovedGoesOnWithoutAsking) {
  for_every_call([&](Call call) {
    Scene scene;
    const std::string key = scene.servers.key(0);
    const std::string command = command_of(call, key);
    scene.servers.answer(0, command, scene.ask(key, 1));
    scene.servers.answer(1, command, scene.moved(key, 2));
    EXPECT_EQ(scene.call(call, key), success_of(call, key, 2));
    expect_asked(scene, 1, command);
    EXPECT_EQ(scene.servers.count(2, "ASKING"), 0u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(scene.servers.requests(i), Commands{command});
  });
}

// ---- later

// The exact words of Redis 7, Valkey and Garnet.
const std::vector<std::string> later_words = {
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "CLUSTERDOWN Hash slot not served",
    "CLUSTERDOWN The cluster is down",
    "CLUSTERDOWN The cluster is down and only accepts read commands",
    "LOADING Redis is loading the dataset in memory",
    "LOADING Valkey is loading the dataset in memory",
    "READONLY You can't write against a read only replica.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
    "MIGRATING",
    "MOVED {slot} unassigned:0",
    "MOVED {slot} ?:0",
    "MOVED {slot} :0",
    "MOVED {slot} 127.0.0.1:0",
    "ASK {slot} unassigned:0",
    "ASK {slot} 127.0.0.1:0",
};

std::string with_slot(std::string words, const std::string& key) {
  const std::size_t at = words.find("{slot}");
  if (at != std::string::npos) words.replace(at, 6, Scene::slot_of(key));
  return "-" + words + "\r\n";
}

TEST(ScriptedRedirects, WhatMeansLaterIsAskedAgainAtTheSameServer) {
  at_once(later_words, [&](const std::string& words) {
    Scene scene;
    Commands keys;
    Commands commands;
    Commands expected;
    for (unsigned i = 0; i < std::size(every_call); ++i) {
      keys.push_back(scene.servers.key(0, i));
      commands.push_back(command_of(every_call[i], keys[i]));
      expected.push_back(success_of(every_call[i], keys[i], 0));
      scene.servers.answer(0, commands[i], with_slot(words, keys[i]), 2);
    }
    EXPECT_EQ(scene.call_all(keys, 5s), expected) << words;
    EXPECT_GE(scene.took, 15ms) << words << ": 5 ms, then 10 ms";
    for (const std::string& command : commands) {
      EXPECT_EQ(scene.servers.count(0, command), 3u) << command << ' ' << words;
      EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, command), 3u);
    }
  });
}

// The slot is corrected, too: the second call of a key goes only to the new owner.
TEST(ScriptedRedirects, MovedByAServerThatKnowsNoHostLeadsToTheOnlyServerWithThatPort) {
  Scene scene;
  for (unsigned i = 0; i < std::size(every_call); ++i) {
    const Call call = every_call[i];
    const std::string key = scene.servers.key(0, i);
    scene.servers.answer(0, command_of(call, key),
                         Scene::redirect("MOVED", key, "?:" + scene.port(1)),
                         ScriptedCluster::always);
    for (int repeat = 0; repeat < 2; ++repeat) {
      EXPECT_EQ(scene.call(call, key), success_of(call, key, 1));
    }
    EXPECT_EQ(scene.servers.count(0, command_of(call, key)), 1u);
    EXPECT_EQ(scene.servers.count(1, command_of(call, key)), 2u);
  }
}

// The slot's new owner is in the map that the client fetches meanwhile.
TEST(ScriptedRedirects, AServerThatKnowsNoHostMeansTheOwnerThatTheMapHasByThen) {
  Scene scene;
  Commands keys;
  Commands expected;
  const std::string to = scene.servers.key(1);
  EXPECT_EQ(scene.call(Call::get, to), "1/" + to);  // the client has the map
  for (unsigned i = 0; i < 2 * std::size(every_call); ++i) {
    const Call call = every_call[i % std::size(every_call)];
    keys.push_back(scene.servers.key(0, i));
    expected.push_back(success_of(call, keys[i], 1));
    const bool names_port = i < std::size(every_call);
    scene.servers.answer(
        0, command_of(call, keys[i]),
        Scene::redirect("MOVED", keys[i], names_port ? "?:" + scene.port(1) : "unassigned:0"),
        ScriptedCluster::always);
    scene.servers.give(protocol::resp::hash_slot(keys[i]), 1);
  }
  EXPECT_EQ(scene.call_all(keys, 10s), expected);
  EXPECT_EQ(scene.servers.requests(1).size(), 1 + keys.size()) << "none twice";
}

}  // namespace
}  // namespace sheaf::test
