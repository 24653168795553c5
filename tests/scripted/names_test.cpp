// Servers that redirect to each other by the names that they announce
// (`cluster-preferred-endpoint-type hostname`), while CLUSTER NODES has their addresses.

#include <gtest/gtest.h>

#include <string>

#include "tests/scripted/scene.h"

namespace sheaf::test {
namespace {

using Commands = Scene::Commands;
using Hosts = ScriptedCluster::Hosts;

// Names that cannot be resolved: only the map says where they are.
std::string name_of(std::size_t server) { return "node" + std::to_string(server) + ".invalid"; }

void announce_all(Scene& scene) {
  for (std::size_t i = 0; i < 3; ++i) scene.servers.announce(i, name_of(i));
}

// Server 0 redirects a call to another server, by name and port.
std::string send_by_name(Scene& scene, Call call, const std::string& word, const std::string& key,
                         const std::string& name, std::size_t to) {
  const std::string address = name + ":" + scene.port(to);
  scene.servers.answer(0, command_of(call, key), Scene::redirect(word, key, address));
  return scene.call(call, key);
}

TEST(ScriptedNames, RedirectsByNameLeadToTheServersOfTheMapAndNeedNoOther) {
  for (const std::string word : {"MOVED", "ASK"}) {
    for_every_call([&](Call call) {
      Scene scene;
      announce_all(scene);
      for (unsigned number = 0; number < 5; ++number) {
        for (const std::size_t to : {std::size_t{1}, std::size_t{2}}) {
          const std::string key = scene.servers.key(0, 2 * number + static_cast<unsigned>(to));
          EXPECT_EQ(send_by_name(scene, call, word, key, name_of(to), to),
                    success_of(call, key, to));
        }
      }
      EXPECT_EQ(scene.client().stats().size(), 3u) << "no server is another one by its name";
      EXPECT_EQ(scene.servers.conversations(1).size(), 1u);
    });
  }
}

TEST(ScriptedNames, AskByNameWaitsForNoMap) {
  Scene scene;
  announce_all(scene);
  for (unsigned number = 0; number < 5; ++number) {
    const std::string key = scene.servers.key(0, number);
    EXPECT_EQ(send_by_name(scene, Call::get, "ASK", key, name_of(1), 1), "1/" + key);
  }
  EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, "CLUSTER NODES"), 1u);
}

TEST(ScriptedNames, AServerThatIsASeedByItsNameStaysOneMember) {
  Scene scene;
  for (std::size_t i = 0; i < 3; ++i) scene.servers.announce(i, "localhost");
  scene.uri = "redis://localhost:" + scene.port(0) + ",localhost:" + scene.port(1);
  const std::string key = scene.servers.key(0);
  EXPECT_EQ(send_by_name(scene, Call::get, "MOVED", key, "localhost", 1), "1/" + key);
  EXPECT_EQ(scene.client().stats().size(), 3u);
}

TEST(ScriptedNames, AServerThatTheMapDoesNotHaveYetIsOnTheMachineOfItsName) {
  Scene scene(Hosts(3, "127.0.0.1"), {"127.0.0.1"});
  for (std::size_t i = 0; i < 3; ++i) scene.servers.announce(i, "host.invalid");
  const std::string key = scene.servers.key(0);
  EXPECT_EQ(send_by_name(scene, Call::get, "MOVED", key, "host.invalid", 3), "3/" + key);
}

TEST(ScriptedNames, ANameThatNobodyHasAnnouncedIsNotFollowed) {
  Scene scene;
  announce_all(scene);
  const std::string key = scene.servers.key(0);
  const std::string moved = Scene::redirect("MOVED", key, "other.invalid:" + scene.port(1));
  scene.servers.answer(0, "GET", moved, ScriptedCluster::always);
  const std::string end = scene.call(Call::get, key, 60s);
  EXPECT_TRUE(end.starts_with("refused, not authorized: ")) << end;
  EXPECT_EQ(scene.servers.requests(1), Commands());
}

}  // namespace
}  // namespace sheaf::test
