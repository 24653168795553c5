// ClientServers: gives a client other servers, and outlives it.

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include <sheaf/async.h>
#include <sheaf/client.h>

namespace sheaf {
namespace {

TEST(ClientServers, GivesTheClientOthersAndKeepsTheRestOfItsConfiguration) {
  Client client = Client::open("memcached://127.0.0.1:1?timeout=3s").value();
  const ClientServers servers(client);
  EXPECT_FALSE(servers.closed());
  const auto changed = servers.replace({{"127.0.0.1", 1, 1}, {"127.0.0.1", 2, 1}}).value();
  EXPECT_EQ(changed.added.size(), 1u);
  EXPECT_TRUE(changed.removed.empty());
  EXPECT_EQ(client.stats().size(), 2u);
  EXPECT_EQ(client.config().timeout, std::chrono::seconds(3));
  EXPECT_EQ(servers.replace({}).error().reason, Reason::bad_configuration);
}

TEST(ClientServers, FollowsAClientThatIsMovedAndEndsWithIt) {
  std::optional<Client> client = Client::open("memcached://127.0.0.1:1").value();
  const ClientServers servers(*client);
  std::optional<Client> moved(std::move(*client));
  client.reset();
  EXPECT_FALSE(servers.closed());
  EXPECT_TRUE(servers.replace({{"127.0.0.1", 2, 1}}));
  moved.reset();
  EXPECT_TRUE(servers.closed());
  EXPECT_EQ(servers.replace({{"127.0.0.1", 3, 1}}).error().outcome, Outcome::shutdown);
}

TEST(ClientServers, AHandleThatKeepsWhatWasInsideDoesNotKeepTheClientOpen) {
  std::optional<Client> client = Client::open("memcached://127.0.0.1:1").value();
  const AsyncClient handle = client->async();
  const ClientServers servers(*client);
  client.reset();
  EXPECT_TRUE(servers.closed());
  EXPECT_EQ(servers.replace({{"127.0.0.1", 2, 1}}).error().outcome, Outcome::shutdown);
}

}  // namespace
}  // namespace sheaf
