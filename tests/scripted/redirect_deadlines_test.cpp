// Redirects and deadlines: whatever servers say, a call ends in time and reports the truth.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/scripted/scene.h"

namespace sheaf::test {
namespace {

using Commands = Scene::Commands;

const std::string both_words[] = {"MOVED", "ASK"};

TEST(ScriptedDeadlines, AServerThatIsSilentAfterARedirectLeavesTheCallUnknown) {
  at_once(both_words, [](const std::string& word) {
    // Each has servers of its own: three silent calls may take one down before the fourth is sent.
    for_every_call([&](Call call) {
      Scene scene;
      const std::string key = scene.servers.key(0);
      const std::string command = command_of(call, key);
      EXPECT_EQ(scene.call(Call::get, scene.servers.key(1)), "1/" + scene.servers.key(1));
      scene.servers.answer(0, command, Scene::redirect(word, key, scene.servers.address(1)));
      scene.servers.keep_silent(1, command);
      const std::string end = scene.call(call, key, short_time);
      EXPECT_TRUE(end.starts_with("unknown, timed out: ")) << end;
      EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, command), 2u) << "none twice";
    });
  });
}

// No server has carried it out, and no server has it in progress.
TEST(ScriptedDeadlines, WhatWaitsForALaterAttemptEndsAsRefused) {
  const std::string later_words[] = {"TRYAGAIN Multiple keys request during rehashing of slot",
                                     "CLUSTERDOWN Hash slot not served",
                                     "LOADING Redis is loading the dataset in memory", "MIGRATING"};
  at_once(later_words, [&](const std::string& words) {
    Scene scene;
    Commands keys;
    for (unsigned i = 0; i < std::size(every_call); ++i) {
      keys.push_back(scene.servers.key(0, i));
      scene.servers.answer(0, command_of(every_call[i], keys[i]), "-" + words + "\r\n",
                           ScriptedCluster::always);
    }
    for (const std::string& end : scene.call_all(keys, short_time)) {
      // On a slow machine an attempt may be in flight at the deadline.
      EXPECT_TRUE(end == "refused, timed out: " + words + no_time_left ||
                  end.starts_with("unknown, timed out: "))
          << end;
    }
    const std::size_t asked = scene.servers.requests(0).size();
    EXPECT_LE(asked, 8 * keys.size()) << "after 5, 10, 20, 40, 80 and 160 ms";
    EXPECT_EQ(scene.call(Call::get, scene.servers.key(1)), "1/" + scene.servers.key(1));
    EXPECT_EQ(scene.servers.requests(0).size(), asked) << "what has ended is not sent again";
  });
}

TEST(ScriptedDeadlines, ABounceThatWouldEndTooLateIsRefused) {
  for_every_call([&](Call call) {
    Scene scene;
    const std::string key = scene.servers.key(0);
    const std::string command = command_of(call, key);
    scene.servers.script(0, command, {{.bytes = scene.moved(key, 1), .delay = 100ms}},
                         ScriptedCluster::always);
    scene.servers.script(1, command, {{.bytes = scene.moved(key, 0), .delay = 100ms}},
                         ScriptedCluster::always);
    const std::string end = scene.call(call, key, short_time);
    // At the deadline it is in flight or waits.
    EXPECT_TRUE(end.starts_with("unknown, timed out: ") || end.ends_with(no_time_left)) << end;
    EXPECT_LE(scene.servers.count(ScriptedCluster::anyone, command), 4u);
  });
}

// The call of this redirect has ended. A third silent call would take the server down.
TEST(ScriptedDeadlines, ARedirectThatComesAfterTheDeadlineIsNotFollowed) {
  at_once(both_words, [](const std::string& word) {
    const std::vector<Call> pairs[] = {{Call::get, Call::add}, {Call::set, Call::remove}};
    at_once(pairs, [&](const std::vector<Call>& calls) {
      Scene scene;
      Commands keys;
      for (unsigned i = 0; i < calls.size(); ++i) {
        keys.push_back(scene.servers.key(0, i));
        scene.servers.script(0, command_of(calls[i], keys[i]),
                             {{.bytes = Scene::redirect(word, keys[i], scene.servers.address(1)),
                               .delay = 2 * short_time}});
      }
      for (const std::string& end : scene.call_all(keys, short_time, calls)) {
        EXPECT_TRUE(end.starts_with("unknown, timed out: ")) << end;
      }
      for (const std::string& key : keys) {
        EXPECT_EQ(scene.call(Call::get, key, 20s), "0/" + key) << "nothing was learned";
      }
      EXPECT_EQ(scene.servers.requests(1), Commands());
      EXPECT_EQ(scene.servers.requests(0).size(), 2 * keys.size());
    });
  });
}

TEST(ScriptedDeadlines, ARedirectThatComesInTimeHasOnlyTheTimeThatIsLeft) {
  for_every_call([&](Call call) {
    Scene scene;
    const std::string key = scene.servers.key(0);
    const std::string command = command_of(call, key);
    EXPECT_EQ(scene.call(Call::get, scene.servers.key(1)), "1/" + scene.servers.key(1));
    scene.servers.script(0, command, {{.bytes = scene.moved(key, 1), .delay = 150ms}});
    scene.servers.script(1, command, {{.bytes = "$1\r\nv\r\n", .delay = 1h}});
    const std::string end = scene.call(call, key, short_time);
    EXPECT_TRUE(end.starts_with("unknown, timed out: ")) << end;
    EXPECT_GE(scene.took, short_time);
    EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, command), 2u);
  });
}

TEST(ScriptedDeadlines, SlotsThatNobodyServesAreAskedForUntilTheDeadline) {
  Scene scene;
  Commands keys;
  for (unsigned i = 0; i < 2 * std::size(every_call); ++i) {
    keys.push_back(scene.servers.key(0, i));
    const Call call = every_call[i % std::size(every_call)];
    const std::string words = i < std::size(every_call)
                                  ? "-CLUSTERDOWN Hash slot not served\r\n"
                                  : Scene::redirect("MOVED", keys[i], "unassigned:0");
    scene.servers.answer(0, command_of(call, keys[i]), words, ScriptedCluster::always);
  }
  const Commands ends = scene.call_all(keys, 3s);
  EXPECT_GE(scene.took, 2'700ms);
  for (const std::string& end : ends) {
    EXPECT_TRUE(end.starts_with("refused, timed out: ")) << end;
    EXPECT_TRUE(end.ends_with(no_time_left)) << end;
  }
  for (unsigned i = 0; i < keys.size(); ++i) {
    const Call call = every_call[i % std::size(every_call)];
    EXPECT_LE(scene.servers.count(0, command_of(call, keys[i])), 20u);
  }
  EXPECT_LE(scene.servers.count(ScriptedCluster::anyone, "CLUSTER"), 15u) << "at most one a second";
  const std::string other = scene.servers.key(1);
  EXPECT_EQ(scene.call(Call::get, other), "1/" + other) << "other slots are served";
  scene.servers.forget_scripts();
  EXPECT_EQ(scene.call(Call::get, keys[0]), "0/" + keys[0]) << "as are these as soon as they are";
}

}  // namespace
}  // namespace sheaf::test
