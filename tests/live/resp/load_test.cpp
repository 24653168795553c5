// A cluster that changes while a client writes to it: no acknowledged write is lost.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <stop_token>
#include <string>
#include <thread>

#include "protocol/resp/wire/hash_slot.h"
#include "protocol/resp/wire/server_error.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using protocol::resp::ErrorKind;
using protocol::resp::hash_slot;
using protocol::resp::KeptReply;
using protocol::resp::ServerError;

// Follows the servers' redirects.
//
// Thread rule: one thread at a time.
class RedirectedClient {
 public:
  explicit RedirectedClient(std::uint16_t port) : port_(port) {}

  KeptReply ask(const RespConnection::Words& command) {
    KeptReply reply = connection(port_).ask(command);
    for (int redirects = 0; reply.root().is_error() && redirects < 1'000; ++redirects) {
      const auto error = ServerError::parse(reply.root().text());
      if (!error.redirect) return reply;
      RespConnection& there = connection(error.redirect->port);
      if (error.kind == ErrorKind::ask) {
        there.ask({"ASKING"});
      } else {
        port_ = error.redirect->port;
      }
      reply = there.ask(command);
    }
    return reply;
  }

 private:
  RespConnection& connection(std::uint16_t port) {
    return connections_.try_emplace(port, port).first->second;
  }

  std::map<std::uint16_t, RespConnection> connections_;
  std::uint16_t port_;
};

TEST(RedisClusterUnderLoad, ASlotMovesToAndFro) {
  const LentCluster lent;
  RespCluster& cluster = *lent;
  const std::uint16_t slot = hash_slot("{foo}");
  ASSERT_EQ(cluster.owner(slot), 2u);

  constexpr std::size_t keys = 50;
  std::array<int, keys> counted{};
  std::atomic<int> rounds = 0;
  std::string refusal;
  RedirectedClient client(cluster.server(0).port());
  std::jthread load([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (std::size_t i = 0; i < keys; ++i) {
        const KeptReply reply = client.ask({"INCR", "{foo}" + std::to_string(i)});
        if (reply.root().is_error()) {
          refusal = reply.root().text();
          return;
        }
        ++counted[i];
      }
      ++rounds;
    }
  });
  for (const std::size_t to : {0u, 2u, 0u}) {
    const int before = rounds;
    wait_for_condition("the client writes", [&] { return rounds > before + 1; });
    cluster.begin_migration(slot, to);
    while (cluster.move_keys(slot, to, 5) > 0) {
    }
    cluster.end_migration(slot, to);
    cluster.wait_until_settled();
    EXPECT_EQ(cluster.owner(slot), to);
  }
  load.request_stop();
  load.join();
  EXPECT_EQ(refusal, "");
  for (std::size_t i = 0; i < keys; ++i) {
    EXPECT_EQ(cluster.text(0, {"GET", "{foo}" + std::to_string(i)}),
              '"' + std::to_string(counted[i]) + '"');
  }
}

}  // namespace
}  // namespace sheaf::test
