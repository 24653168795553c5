// Redirects of single keys of batches: the other keys end as if nothing had happened.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/async.h>

#include "tests/scripted/scene.h"

namespace sheaf::test {
namespace {

using Commands = Scene::Commands;
using Hosts = ScriptedCluster::Hosts;

// ---- the three batches

constexpr Call batch_calls[] = {Call::get, Call::set, Call::remove};

// How each key of a batch ended.
std::map<std::string, std::string> make_batch(Client& client, Call call, const Commands& keys,
                                              std::chrono::milliseconds timeout) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::map<std::string, std::string> ends;
  const auto keep = [&](const auto& results) {
    for (const auto& [key, result] : results) ends[key] = in_words(result);
  };
  if (call == Call::get) {
    keep(client.get_many(views, {.timeout = timeout}));
  } else if (call == Call::set) {
    std::vector<SetItem> items;
    for (const std::string& key : keys) items.push_back({key, "v"});
    keep(client.set_many(items, {.timeout = timeout}));
  } else {
    keep(client.remove_many(views, {.timeout = timeout}));
  }
  return ends;
}

// A batch of ten keys of server 0 and five each of servers 1 and 2. Server 0 gives scripted answers
// for its odd keys.
class Batch {
 public:
  explicit Batch(Call its_call, const Hosts& outsiders = {})
      : call(its_call), scene(Hosts(3, "127.0.0.1"), outsiders) {
    for (unsigned i = 0; i < 10; ++i) keys.push_back(scene.servers.key(0, i));
    for (unsigned i = 0; i < 5; ++i) keys.push_back(scene.servers.key(1, i));
    for (unsigned i = 0; i < 5; ++i) keys.push_back(scene.servers.key(2, i));
  }
  // The client knows the map, so each server gets its keys of the batch at once.
  void run(std::chrono::milliseconds timeout = 5s) {
    EXPECT_EQ(scene.call(Call::get, scene.servers.key(0, 99)), "0/" + scene.servers.key(0, 99));
    const auto begun = ScriptedCluster::Clock::now();
    ends = make_batch(scene.client(), call, keys, timeout);
    EXPECT_LT(ScriptedCluster::Clock::now() - begun, timeout + own_pause);
  }
  // The keys for which server 0 gives scripted answers.
  static constexpr unsigned odd_keys[] = {0, 4, 9};
  static bool is_odd(std::size_t i) { return std::ranges::count(odd_keys, i) != 0; }
  static std::size_t home(std::size_t i) { return i < 10 ? 0 : i < 15 ? 1 : 2; }

  void say(const std::function<std::string(const std::string& key)>& words, unsigned times = 1) {
    for (const unsigned i : odd_keys) {
      scene.servers.answer(0, command_of(call, keys[i]), words(keys[i]), times);
    }
  }
  // The other keys were served where they belong, and once.
  void expect_others_as_ever() {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (is_odd(i)) continue;
      EXPECT_EQ(ends[keys[i]], success_of(call, keys[i], home(i))) << name_of(call);
      EXPECT_EQ(count(i), 1u) << name_of(call) << ' ' << keys[i];
    }
  }
  std::size_t count(std::size_t i, std::size_t server = ScriptedCluster::anyone) const {
    return scene.servers.count(server, command_of(call, keys[i]));
  }

  Call call;
  Scene scene;
  Commands keys;
  std::map<std::string, std::string> ends;
};

// ---- redirects that are followed

TEST(ScriptedBatches, KeysThatHaveMovedAreFetchedAloneFromWhereTheyAre) {
  at_once(batch_calls, [&](Call call) {
    for (const std::string word : {"MOVED", "ASK"}) {
      for (const std::size_t to : {std::size_t{1}, std::size_t{3}}) {
        Batch batch(call, {"127.0.0.1"});
        batch.say(
            [&](const std::string& key) {
              return Scene::redirect(word, key, batch.scene.servers.address(to));
            },
            ScriptedCluster::always);
        batch.run();
        batch.expect_others_as_ever();
        for (const unsigned i : Batch::odd_keys) {
          EXPECT_EQ(batch.ends[batch.keys[i]], success_of(call, batch.keys[i], to)) << word;
          EXPECT_EQ(batch.count(i, 0), call == Call::get ? 2u : 1u) << "in the batch, and alone";
          EXPECT_EQ(batch.count(i, to), 1u);
        }
        EXPECT_EQ(batch.scene.servers.count(to, "ASKING"), word == "ASK" ? 3u : 0u);
      }
    }
  });
}

TEST(ScriptedBatches, KeysThatAreToComeLaterAreAskedForAgainAlone) {
  at_once(batch_calls, [&](Call call) {
    for (const std::string words :
         {"TRYAGAIN Multiple keys request during rehashing of slot",
          "CLUSTERDOWN Hash slot not served", "LOADING Redis is loading the dataset in memory",
          "READONLY You can't write against a read only replica.",
          "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
          "MIGRATING", "MOVED {slot} unassigned:0"}) {
      Batch batch(call);
      batch.say(
          [&](const std::string& key) {
            if (!words.starts_with("MOVED")) return "-" + words + "\r\n";
            return Scene::redirect("MOVED", key, "unassigned:0");
          },
          3);
      batch.run();
      batch.expect_others_as_ever();
      for (const unsigned i : Batch::odd_keys) {
        EXPECT_EQ(batch.ends[batch.keys[i]], success_of(call, batch.keys[i], 0)) << words;
        EXPECT_EQ(batch.count(i), 4u) << words;
      }
    }
  });
}

// ---- and those that are not

TEST(ScriptedBatches, ARedirectThatLeadsNowhereIsTheErrorOfItsKeyAlone) {
  at_once(batch_calls, [&](Call call) {
    Batch batch(call, {"127.0.0.9"});
    batch.say(
        [&](const std::string& key) {
          return Scene::redirect("MOVED", key, batch.scene.servers.address(3));
        },
        ScriptedCluster::always);
    batch.run();
    batch.expect_others_as_ever();
    for (const unsigned i : Batch::odd_keys) {
      const std::string& end = batch.ends[batch.keys[i]];
      EXPECT_TRUE(end.starts_with("refused, not authorized: MOVED ")) << end;
    }
    EXPECT_TRUE(batch.scene.servers.conversations(3).empty());
  });
}

TEST(ScriptedBatches, ATextThatIsNoRedirectIsTheErrorOfItsKeyAlone) {
  at_once(batch_calls, [&](Call call) {
    for (const std::string words :
         {"MOVED {slot} {to} ", "MOVED  {slot} {to}", "MOVED 16384 {to}", "moved {slot} {to}",
          "MOVED {slot} 127.0.0.1:65536", "MO", "ASK {to}", "ASK {slot} {to}x", "TRYAGAINX"}) {
      Batch batch(call);
      const auto filled = [&](const std::string& key) {
        std::string text = words;
        if (const auto at = text.find("{slot}"); at != text.npos) {
          text.replace(at, 6, Scene::slot_of(key));
        }
        if (const auto at = text.find("{to}"); at != text.npos) {
          text.replace(at, 4, batch.scene.servers.address(1));
        }
        return text;
      };
      batch.say([&](const std::string& key) { return "-" + filled(key) + "\r\n"; },
                ScriptedCluster::always);
      batch.run();
      batch.expect_others_as_ever();
      for (const unsigned i : Batch::odd_keys) {
        const std::string& end = batch.ends[batch.keys[i]];
        EXPECT_TRUE(end.starts_with("refused")) << end;
        EXPECT_TRUE(end.ends_with(": " + filled(batch.keys[i]))) << end;
        EXPECT_EQ(batch.count(i, 1), 0u) << end;
      }
    }
  });
}

TEST(ScriptedBatches, OneKeyThatBouncesOrWaitsUntilTheDeadlineLeavesTheOthersAlone) {
  at_once(batch_calls, [&](Call call) {
    Batch batch(call);
    const auto& servers = batch.scene.servers;
    const std::string bounces = command_of(call, batch.keys[0]);
    const std::string waits = command_of(call, batch.keys[4]);
    const std::string silent = command_of(call, batch.keys[9]);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      batch.scene.servers.answer(i, bounces, batch.scene.moved(batch.keys[0], 1 - i),
                                 ScriptedCluster::always);
    }
    batch.scene.servers.answer(0, waits, "-CLUSTERDOWN Hash slot not served\r\n",
                               ScriptedCluster::always);
    batch.scene.servers.answer(0, silent, batch.scene.moved(batch.keys[9], 2),
                               ScriptedCluster::always);
    batch.scene.servers.keep_silent(2, silent);
    batch.run(500ms);
    for (std::size_t i = 0; i < 15; ++i) {  // server 2 answers nothing after the silence
      if (!Batch::is_odd(i)) {
        EXPECT_EQ(batch.ends[batch.keys[i]], success_of(call, batch.keys[i], Batch::home(i)));
      }
    }
    EXPECT_TRUE(is_out_of_time(batch.ends[batch.keys[0]])) << batch.ends[batch.keys[0]];
    EXPECT_TRUE(batch.ends[batch.keys[4]].starts_with("refused, timed out: CLUSTERDOWN ") ||
                batch.ends[batch.keys[4]].starts_with("unknown, timed out: "))
        << batch.ends[batch.keys[4]];
    EXPECT_TRUE(batch.ends[batch.keys[9]].starts_with("unknown, timed out: "))
        << batch.ends[batch.keys[9]];
    EXPECT_EQ(servers.count(2, silent), 1u);
  });
}

// A redirected key comes back after all others are answered, and delays none of them.
TEST(ScriptedBatches, TheOthersAreSentBeforeARedirectedKeyIsSentAgain) {
  at_once(batch_calls, [&](Call call) {
    Batch batch(call);
    batch.say([](const std::string&) { return "-TRYAGAIN x\r\n"; });
    batch.run();
    const Commands of_server_0 = batch.scene.servers.requests(0);
    ASSERT_EQ(of_server_0.size(), 14u);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(std::ranges::count(of_server_0.begin() + 1, of_server_0.begin() + 11,
                                   command_of(call, batch.keys[i])),
                1);
    }
  });
}

// ---- one MGET for all keys of a slot

Commands keys_of_one_slot(const Scene& scene) {
  Commands keys;
  for (int i = 0; i < 10; ++i) keys.push_back("{" + scene.servers.key(0) + "}" + std::to_string(i));
  return keys;
}

TEST(ScriptedBatches, AnErrorToAnMgetLeavesEachKeyToItsOwnGet) {
  for (const std::string words :
       {"TRYAGAIN Multiple keys request during rehashing of slot",
        "CROSSSLOT Keys in request don't hash to the same slot",
        "LOADING Redis is loading the dataset in memory", "NOPERM this user has no permissions",
        "ERR unknown command", "MOVED", "ASK"}) {
    Scene scene;
    const Commands keys = keys_of_one_slot(scene);
    const bool elsewhere = words == "MOVED" || words == "ASK";
    ASSERT_EQ(scene.call(Call::get, keys[0]), "0/" + keys[0]);
    const std::string error = elsewhere ? Scene::redirect(words, keys[0], scene.servers.address(1))
                                        : "-" + words + "\r\n";
    scene.servers.answer(0, "MGET", error);
    if (elsewhere) {
      for (const std::string& key : keys) {
        scene.servers.answer(0, "GET " + key, error, ScriptedCluster::always);
      }
    }
    const auto ends = make_batch(scene.client(), Call::get, keys, 5s);
    ASSERT_EQ(ends.size(), keys.size());
    for (const auto& [key, end] : ends) EXPECT_EQ(end, (elsewhere ? "1/" : "0/") + key) << words;
    EXPECT_EQ(scene.servers.count(0, "MGET"), 1u) << words;
  }
}

TEST(ScriptedBatches, ANullOfAnMgetIsAskedForAgain) {
  Scene scene;
  const Commands keys = keys_of_one_slot(scene);
  ASSERT_EQ(scene.call(Call::get, keys[0]), "0/" + keys[0]);
  std::string values = "*10\r\n";
  for (int i = 0; i < 10; ++i) values += i == 2 || i == 3 || i == 7 ? "$-1\r\n" : "$1\r\nv\r\n";
  scene.servers.answer(0, "MGET", values);
  scene.servers.answer(0, "GET " + keys[3], "$-1\r\n");
  scene.servers.answer(0, "GET " + keys[7], "-WRONGTYPE Operation against a key\r\n");
  auto ends = make_batch(scene.client(), Call::get, keys, 5s);
  EXPECT_EQ(ends[keys[0]], "v");
  EXPECT_EQ(ends[keys[2]], "0/" + keys[2]) << "it was written meanwhile";
  EXPECT_EQ(ends[keys[3]], "absent");
  EXPECT_TRUE(ends[keys[7]].ends_with("WRONGTYPE Operation against a key")) << ends[keys[7]];
  EXPECT_EQ(scene.servers.count(0, "GET"), 4u) << "no other key is";
}

// ---- many commands

std::vector<Command> gets_of(const Commands& keys) {
  std::vector<Command> commands;
  for (const std::string& key : keys) commands.push_back(Command({"GET", key}).keys({key}));
  return commands;
}
std::string text_of(const Result<CommandReply>& reply) {
  return reply ? std::string(reply->text().value_or("no text")) : in_words(reply.error());
}

TEST(ScriptedBatches, ACommandThatHasMovedIsFollowedAlone) {
  for (const std::string word : {"MOVED", "ASK"}) {
    Batch batch(Call::get);
    const auto to = [&](const std::string& key) {
      return Scene::redirect(word, key, batch.scene.servers.address(1));
    };
    batch.say(to, ScriptedCluster::always);
    const auto replies = batch.scene.client().execute_many(gets_of(batch.keys), {.timeout = 5s});
    ASSERT_EQ(replies.size(), batch.keys.size());
    for (std::size_t i = 0; i < replies.size(); ++i) {
      batch.ends[batch.keys[i]] = text_of(replies[i]);
      if (!Batch::is_odd(i)) continue;
      EXPECT_EQ(text_of(replies[i]), "1/" + batch.keys[i]) << word;
    }
    batch.expect_others_as_ever();
  }
}

TEST(ScriptedBatches, CommandsWithoutAnAnswerEndInTimeAndTheOthersHaveTheirs) {
  Scene scene;
  const Commands keys{scene.servers.key(0), scene.servers.key(1), scene.servers.key(0, 1)};
  scene.servers.keep_silent(0, "GET " + keys[2]);
  const auto begun = ScriptedCluster::Clock::now();
  const auto replies = scene.client().execute_many(gets_of(keys), {.timeout = 500ms});
  EXPECT_LT(ScriptedCluster::Clock::now() - begun, 500ms + own_pause);
  ASSERT_EQ(replies.size(), keys.size());
  EXPECT_EQ(text_of(replies[0]), "0/" + keys[0]);
  EXPECT_EQ(text_of(replies[1]), "1/" + keys[1]);
  EXPECT_TRUE(text_of(replies[2]).starts_with("unknown, timed out: ")) << text_of(replies[2]);
}

// A server that carries out a later command on the key has the last word.
TEST(ScriptedBatches, ACommandIsNotSentOnceMoreAfterALaterOneOnItsKey) {
  Scene scene;
  const std::string key = scene.servers.key(0);
  const std::string other = scene.servers.key(0, 1);
  std::vector<Command> commands;
  for (const std::string value : {"1", "2"}) {
    commands.push_back(Command({"SET", key, value}).keys({key}));
    commands.push_back(Command({"SET", other, value}).keys({other}));
  }
  ASSERT_EQ(scene.call(Call::get, key), "0/" + key);
  const std::string later = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
  scene.servers.answer(0, "SET " + key + " 1", later);
  scene.servers.answer(0, "SET " + other + " 1", later);
  scene.servers.answer(0, "SET " + other + " 2", later);
  const auto replies = scene.client().execute_many(commands, {.timeout = 5s});
  ASSERT_EQ(replies.size(), 4u);
  EXPECT_EQ(replies[0].error().reason, Reason::overtaken);
  EXPECT_EQ(replies[0].error().outcome, Outcome::refused);
  for (const std::size_t i : {1u, 2u, 3u}) EXPECT_TRUE(replies[i]) << i << text_of(replies[i]);
  EXPECT_EQ(scene.servers.count(0, "SET " + key + " 1"), 1u);
  std::vector<std::string> sent;
  for (const std::string& request : scene.servers.requests(0)) {
    if (request.starts_with("SET " + other)) sent.push_back(request);
  }
  EXPECT_EQ(sent, std::vector<std::string>({"SET " + other + " 1", "SET " + other + " 2",
                                            "SET " + other + " 1", "SET " + other + " 2"}));
}

// More of them than may be in flight, and none is answered.
TEST(ScriptedBatches, AStopTokenEndsAllCommands) {
  for (const bool blocks : {false, true}) {
    Scene scene;
    scene.uri = scene.servers.uri({0}) + "?max_in_flight=4";
    const Commands keys = keys_of_one_slot(scene);
    ASSERT_EQ(scene.call(Call::get, keys[0]), "0/" + keys[0]);
    scene.servers.keep_silent(0, "GET " + keys[0]);
    std::stop_source source;
    const std::stop_token token = source.get_token();
    const CommandOptions options{.timeout = 20s, .stop = &token};
    auto later =
        blocks ? std::async(std::launch::async,
                            [&] { return scene.client().execute_many(gets_of(keys), options); })
               : scene.client().async().execute_many(gets_of(keys), options).future();
    while (scene.servers.count(0, "GET " + keys[0]) < 2) std::this_thread::yield();
    source.request_stop();
    const auto replies = later.get();
    ASSERT_EQ(replies.size(), keys.size());
    for (const auto& reply : replies) EXPECT_EQ(reply.error().reason, Reason::cancelled);
    EXPECT_EQ(replies.front().error().outcome, Outcome::unknown) << blocks;
    EXPECT_EQ(replies.back().error().outcome, Outcome::not_sent) << blocks;
  }
}

}  // namespace
}  // namespace sheaf::test
