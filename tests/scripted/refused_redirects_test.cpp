// Redirects that must not be followed, or not forever.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/scripted/scene.h"
#include "tests/support/reserved_port.h"

namespace sheaf::test {
namespace {

using Commands = Scene::Commands;
using Hosts = ScriptedCluster::Hosts;

const Hosts three_hosts(3, "127.0.0.1");

std::string filled(std::string text, std::string_view name, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size()) {
    text.replace(at, name.size(), value);
  }
  return text;
}

// True if a server has received a connection.
bool was_reached(const Scene& scene, std::size_t server) {
  return !scene.servers.conversations(server).empty();
}

// ---- hosts that are not allowed

// The next map might name the host, so the request waits for it, but not longer.
std::string refusal_of(const std::string& text, const std::string& host) {
  return "refused, not authorized: " + text + " (redirects to " + host +
         " are not allowed: no map of the cluster names it; to allow it, add it to the nodes of "
         "the configuration)";
}

TEST(ScriptedRedirects, ToAHostThatTheNextMapDoesNotNameIsRefusedAndNobodyIsReachedThere) {
  for (const std::string word : {"MOVED", "ASK"}) {
    for_every_call([&](Call call) {
      Scene scene(three_hosts, {"127.0.0.9"});
      const std::string key = scene.servers.key(0);
      const std::string command = command_of(call, key);
      const std::string words = Scene::redirect(word, key, scene.servers.address(3));
      scene.servers.answer(0, command, words, ScriptedCluster::always);
      const std::string text = words.substr(1, words.size() - 3);
      EXPECT_EQ(scene.call(call, key, 60s), refusal_of(text, "127.0.0.9"));
      EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, "CLUSTER NODES"), 2u);
      EXPECT_EQ(scene.servers.conversations(0).size(), 1u);
      EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, command),
                scene.servers.count(0, command));
      const std::size_t asked = scene.servers.count(0, command);
      EXPECT_EQ(scene.call(call, key, 60s), refusal_of(text, "127.0.0.9")) << "at once";
      EXPECT_EQ(scene.servers.count(0, command), asked + 1);
      scene.servers.forget_scripts();
      EXPECT_EQ(scene.call(call, key), success_of(call, key, 0)) << "nothing was learned";
      EXPECT_FALSE(was_reached(scene, 3));
    });
  }
}

TEST(ScriptedRedirects, AnotherNameOfAnAllowedHostIsNotAllowed) {
  const std::string hosts[] = {"localhost",  "127.0.0.01",     "127.1",       "::ffff:127.0.0.1",
                               "127.0.0.1.", "user@127.0.0.1", "127.0.0.1/x", "0.0.0.0"};
  at_once(hosts, [](const std::string& host) {
    Scene scene(three_hosts, {"127.0.0.1"});
    const std::string key = scene.servers.key(0);
    const std::string moved = Scene::redirect("MOVED", key, host + ":" + scene.port(3));
    scene.servers.answer(0, "GET", moved, ScriptedCluster::always);
    EXPECT_EQ(scene.call(Call::get, key, 60s), refusal_of(moved.substr(1, moved.size() - 3), host));
    EXPECT_FALSE(was_reached(scene, 3)) << host;
    EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, "GET"), scene.servers.count(0, "GET"));
  });
}

// ---- texts that are not quite redirects

const std::vector<std::string> altered_redirects = {
    "{word}",
    "{word} ",
    "{word} {slot}",
    "{word} {slot} ",
    "{word} {to}",
    "{word}  {slot} {to}",
    "{word} {slot}  {to}",
    "{word} {slot} {to} ",
    "{word} {slot} {to} {to}",
    "{word} {slot} {to} 1",
    "{word} {slot} {to}:",
    "{word} {slot} {to}x",
    "{word} {slot} 127.0.0.1",
    "{word} {slot} 127.0.0.1:",
    "{word} {slot} 127.0.0.1:65536",
    "{word} {slot} 127.0.0.1:-1",
    "{word} {slot} 127.0.0.1:+1",
    "{word} {slot} 127.0.0.1:00001",
    "{word} {slot} 127.0.0.1:99999999999999999999",
    "{word} 16384 {to}",
    "{word} 65536 {to}",
    "{word} -1 {to}",
    "{word} 0{slot} {to}",
    "{word} +{slot} {to}",
    "{word} {slot}.0 {to}",
    "{word} {slot},{to}",
    "{word} slot {to}",
    "{word}:{slot} {to}",
    "{word}\t{slot}\t{to}",
    "{word} {slot}\t{to}",
    "{word} {slot} \x01{to}",
    "{word}X {slot} {to}",
    " {word} {slot} {to}",
    "ERR {word} {slot} {to}",
    "{lower} {slot} {to}",
    "{cut} {slot} {to}",
    "{cut}",
};

TEST(ScriptedRedirects, ATextThatIsNoRedirectIsAnErrorAndLeadsNowhere) {
  for (const std::string word : {"MOVED", "ASK"}) {
    const std::string lower = word == "ASK" ? "ask" : "moved";
    Scene scene;
    unsigned number = 0;  // of keys
    for (std::string words : altered_redirects) {
      Commands keys;
      words = filled(filled(words, "{word}", word), "{lower}", lower);
      words = filled(filled(words, "{cut}", word.substr(0, 2)), "{to}", scene.servers.address(1));
      for (unsigned i = 0; i < std::size(every_call); ++i) {
        keys.push_back(scene.servers.key(0, number++));
        scene.servers.answer(0, command_of(every_call[i], keys[i]),
                             "-" + filled(words, "{slot}", Scene::slot_of(keys[i])) + "\r\n");
      }
      const Commands ends = scene.call_all(keys, 5s);
      for (std::size_t i = 0; i < ends.size(); ++i) {
        const std::string text = filled(words, "{slot}", Scene::slot_of(keys[i]));
        EXPECT_TRUE(ends[i].starts_with("refused")) << ends[i];
        EXPECT_TRUE(ends[i].ends_with(": " + text)) << ends[i];
        EXPECT_EQ(scene.servers.count(0, command_of(every_call[i], keys[i])), 1u) << text;
      }
      EXPECT_EQ(scene.servers.requests(1), Commands()) << words;
      EXPECT_EQ(scene.call(Call::get, keys[0]), "0/" + keys[0]) << words;
    }
  }
}

// It belongs to another request, so it is unknown to which requests the next replies belong.
TEST(ScriptedRedirects, ARedirectOfAnotherSlotEndsTheConnectionAndIsNotFollowed) {
  for (const std::string word : {"MOVED", "ASK"}) {
    for_every_call([&](Call call) {
      Scene scene;
      const std::string key = scene.servers.key(0);
      const std::string other = scene.servers.key(0, 1);
      const std::string command = command_of(call, key);
      const std::string words = Scene::redirect(word, other, scene.servers.address(1));
      scene.servers.answer(0, command, words);
      const std::string end = scene.call(call, key);
      EXPECT_TRUE(end.starts_with("unknown, protocol error: ")) << end;
      EXPECT_TRUE(end.ends_with("a redirect for a slot that was not requested: " +
                                words.substr(1, words.size() - 3)))
          << end;
      EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, command), 1u);
      EXPECT_EQ(scene.call(Call::get, other), "0/" + other) << "its slot has not moved";
      EXPECT_EQ(scene.servers.requests(1), Commands());
      for (const Commands& each : scene.servers.conversations(0)) {
        const auto last = std::ranges::find(each, command);
        EXPECT_TRUE(last == each.end() || last + 1 == each.end())
            << "nothing more is asked over this connection";
      }
    });
  }
}

// If the caller names wrong keys, the command would go from server to server.
TEST(ScriptedRedirects, OfACommandWhoseKeyWasNotNamedIsRefused) {
  Scene scene;
  const std::string key = scene.servers.key(0);
  const std::string other = scene.servers.key(0, 1);
  Command command({"FROB", other});
  command.keys({key});
  const std::string words = scene.moved(other, 1);
  scene.servers.answer(0, "FROB", words);
  const auto reply = scene.client().execute(command);
  ASSERT_FALSE(reply);
  EXPECT_EQ(in_words(reply.error()), "refused, bad argument: " + words.substr(1, words.size() - 3) +
                                         " (the key named for the command is in another slot)");
  EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, "FROB"), 1u);
  EXPECT_EQ(scene.call(Call::get, key), "0/" + key);
  EXPECT_EQ(scene.servers.conversations(0).size(), 1u) << "its connection goes on";
}

TEST(ScriptedRedirects, AWordThatDoesNotQuiteMeanLaterEndsTheCallAtOnce) {
  Scene scene;
  unsigned number = 0;  // of keys
  for (const std::string words :
       {"tryagain Multiple keys request during rehashing of slot", "TRYAGAINX", " TRYAGAIN x",
        "Clusterdown Hash slot not served", "CLUSTER DOWN Hash slot not served",
        "CLUSTERDOWN:", "loading Redis is loading the dataset in memory",
        "LOADING:", "READ ONLY replica", "readonly You can't write against a read only replica.",
        "MASTERDOWN, Link", "migrating", "MIGRATING:", "ERR MIGRATING", "ERR TRYAGAIN"}) {
    Commands keys;
    for (unsigned i = 0; i < std::size(every_call); ++i) {
      keys.push_back(scene.servers.key(0, number++));
      scene.servers.answer(0, command_of(every_call[i], keys[i]), "-" + words + "\r\n");
    }
    EXPECT_EQ(scene.call_all(keys, 5s), Commands(keys.size(), "refused: " + words));
    EXPECT_EQ(scene.servers.requests(0).size(), number);
  }
}

// ---- to and fro

// Servers 0 and 1 each say that the other has the slot, `times` times in all.
void disagree(Scene& scene, const std::string& word, const std::string& command,
              const std::string& key, unsigned times) {
  scene.servers.answer(0, command, Scene::redirect(word, key, scene.servers.address(1)),
                       (times + 1) / 2);
  scene.servers.answer(1, command, Scene::redirect(word, key, scene.servers.address(0)), times / 2);
}

TEST(ScriptedRedirects, TwoServersThatDisagreeForAMomentAreAskedInTurns) {
  for (const std::string word : {"MOVED", "ASK"}) {
    for_every_call([&](Call call) {
      Scene scene;
      const std::string key = scene.servers.key(0);
      const std::string command = command_of(call, key);
      disagree(scene, word, command, key, 6);
      EXPECT_EQ(scene.call(call, key), success_of(call, key, 0));
      EXPECT_GE(scene.took, 62ms) << "2, 4, 8, 16 and 32 ms";
      EXPECT_EQ(scene.servers.requests(0), Commands(4, command));
      EXPECT_EQ(scene.servers.requests(1), Commands(3, command));
    });
  }
}

// A redirect proves that nothing was carried out, so a slot whose new owner notices later than its
// old one costs time, and no call.
TEST(ScriptedRedirects, TwoServersThatGoOnDisagreeingAreAskedInTurnsUntilTheDeadline) {
  for (const std::string word : {"MOVED", "ASK"}) {
    for_every_call([&](Call call) {
      Scene scene;
      const std::string key = scene.servers.key(0);
      const std::string command = command_of(call, key);
      disagree(scene, word, command, key, 1'000);
      const std::string end = scene.call(call, key, short_time);
      EXPECT_TRUE(is_out_of_time(end)) << end;
      EXPECT_GE(scene.took, short_time - 128ms) << "the next pause";
      const std::size_t requests = scene.servers.count(ScriptedCluster::anyone, command);
      EXPECT_TRUE(requests >= 3 && requests <= 9) << requests;
    });
  }
}

TEST(ScriptedRedirects, ARingOfServersIsFollowedUntilTheDeadline) {
  for_every_call([&](Call call) {
    Scene scene(Hosts(8, "127.0.0.1"));
    for (const std::size_t ring : {std::size_t{1}, std::size_t{3}, std::size_t{8}}) {
      const std::string key = scene.servers.key(0, static_cast<unsigned>(ring));
      const std::string command = command_of(call, key);
      for (std::size_t i = 0; i < ring; ++i) {
        scene.servers.answer(i, command, scene.moved(key, (i + 1) % ring), ScriptedCluster::always);
      }
      const std::string end = scene.call(call, key, short_time);
      EXPECT_TRUE(is_out_of_time(end)) << end;
      EXPECT_LE(scene.servers.count(ScriptedCluster::anyone, command), 16u) << ring;
    }
  });
}

// ---- servers that are of no use

TEST(ScriptedRedirects, ToAPortWhereNobodyListensEndsByTheDeadline) {
  const ReservedPort nobody;
  for (const std::string word : {"MOVED", "ASK"}) {
    for_every_call([&](Call call) {
      Scene scene;
      const std::string key = scene.servers.key(0);
      const std::string to = "127.0.0.1:" + std::to_string(nobody.number());
      scene.servers.answer(0, command_of(call, key), Scene::redirect(word, key, to),
                           ScriptedCluster::always);
      const std::string end = scene.call(call, key, 500ms);
      EXPECT_TRUE(end.starts_with("not sent, ") || end.starts_with("refused")) << end;
      EXPECT_EQ(scene.call(Call::get, scene.servers.key(1)), "1/" + scene.servers.key(1));
    });
  }
}

TEST(ScriptedRedirects, AServerThatTakesTheRequestAndClosesLeavesItUnknownAndNobodyRepeatsIt) {
  for (const std::string word : {"MOVED", "ASK"}) {
    for_every_call([&](Call call) {
      Scene scene;
      const std::string key = scene.servers.key(0);
      const std::string command = command_of(call, key);
      scene.servers.answer(0, command, Scene::redirect(word, key, scene.servers.address(1)));
      scene.servers.script(1, command, {{.close = true}});
      const std::string end = scene.call(call, key);
      EXPECT_TRUE(end.starts_with("unknown, connection lost: ")) << end;
      EXPECT_EQ(scene.servers.requests(0), Commands{command});
      EXPECT_EQ(scene.servers.requests(1), Commands{command});
    });
  }
}

}  // namespace
}  // namespace sheaf::test
