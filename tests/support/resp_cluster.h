#pragma once

// RespCluster: a live cluster of servers of the Redis protocol for a test, formed when the object
// is made, and the ways in which clusters change: slots that move, failovers, servers that stop,
// end and come back.
//
// Whatever waits, waits for a condition, for 60 s at most, and throws std::runtime_error then.
//
// Thread rule: that of ServerProcess.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/cluster/topology_merge.h"
#include "tests/support/resp_connection.h"
#include "tests/support/resp_process.h"
#include "tests/support/resp_software.h"

namespace sheaf::test {

struct RespClusterOptions {
  RespSoftware software = usual_software();
  std::size_t primaries = 3;
  std::size_t replicas = 0;  // of each primary
  RespProcessOptions server{};
  // Redis and Valkey:
  std::vector<std::string> lines{};  // further ones of redis.conf
  std::vector<std::string> tls{};    // those by which each has a port for TLS, too
  // After how long without an answer a server counts as gone, once the cluster is formed. By
  // default so late that no slow machine makes it so.
  std::chrono::milliseconds node_timeout{20'000};
};

class RespCluster {
 public:
  // The replies that describe a cluster.
  enum class Form : std::uint8_t { nodes, shards, slots };

  explicit RespCluster(RespClusterOptions options = {});

  // The primaries come first, then the replicas: server i replicates i % primaries.
  std::size_t size() const { return servers_.size(); }
  RespProcess& server(std::size_t index) { return *servers_.at(index)->process; }
  const std::string& id(std::size_t index) const { return servers_.at(index)->id; }
  std::uint16_t port(std::size_t index) const { return servers_.at(index)->process->port(); }
  bool is_garnet() const { return options_.software == RespSoftware::garnet; }

  // Whether it runs and is not stopped.
  bool answers(std::size_t index) const;
  // On a connection that the cluster keeps to this server.
  std::string text(std::size_t index, std::initializer_list<protocol::resp::Argument> command);
  protocol::resp::KeptReply ask(std::size_t index, const RespConnection::Words& command);
  // Sent in one piece; the replies in order.
  std::vector<protocol::resp::KeptReply> ask_all(
      std::size_t index, const std::vector<RespConnection::Words>& commands) {
    return connection(index).ask_all(commands);
  }
  // Another one, logged in.
  RespConnection connect(std::size_t index) const;

  // ---- what the servers say
  // Views that are asked for later have larger numbers.
  protocol::resp::TopologyView view(std::size_t index, Form form = Form::nodes);
  // The same, or why the reply is none.
  protocol::resp::ParsedView try_view(std::size_t index, Form form);
  // Of all servers that run.
  std::vector<protocol::resp::TopologyView> views(Form form = Form::nodes);
  // The server that has the slot by the views of all.
  std::size_t owner(std::uint16_t slot);
  // Of every slot. Throws if one has none.
  std::vector<std::size_t> owners();
  // Returns when all servers that run agree about all of them and about every slot, serve, and
  // replicate.
  void wait_until_settled();

  // ---- moves of slots, to another primary
  // IMPORTING there, then MIGRATING here.
  void begin_migration(std::uint16_t slot, std::size_t to);
  // Moves up to `most` keys of the slot; returns how many. Clients may use them meanwhile.
  std::size_t move_keys(std::uint16_t slot, std::size_t to, std::size_t most = 1'000);
  // Gives the slot to its new owner: there first, so that no two servers send clients to and fro.
  void end_migration(std::uint16_t slot, std::size_t to);
  // All of it, under load too.
  void migrate(std::uint16_t slot, std::size_t to);
  // Many slots of one primary: all are on their way at the same time.
  void migrate(std::size_t from, std::size_t to, std::span<const std::uint16_t> slots);
  // Valkey 9: its servers move the slots by themselves, and all of them change hands at once.
  bool moves_atomically() { return ask(0, {"CLUSTER", "GETSLOTMIGRATIONS"}).root().is_aggregate(); }
  void begin_atomic_migration(std::size_t from, std::size_t to,
                              std::span<const std::uint16_t> slots);
  // All that the server has begun.
  void cancel_atomic_migrations(std::size_t from);
  // Waits for the end of the latest one; returns its state with the server's message, if it has
  // one: "success", "cancelled", "failed: ...".
  std::string end_of_atomic_migration(std::size_t from);

  // ---- changes of servers
  // Makes a replica the primary; returns when that is settled. `how`: FORCE, TAKEOVER or nothing. A
  // Garnet under load does it only by FORCE or TAKEOVER.
  void fail_over(std::size_t replica, std::string_view how = {});
  std::chrono::milliseconds node_timeout() const { return options_.node_timeout; }
  // Of all servers that answer. Nothing for Garnet.
  void set_node_timeout(std::chrono::milliseconds timeout);
  void stop(std::size_t index);    // SIGSTOP
  void resume(std::size_t index);  // SIGCONT
  void kill(std::size_t index);    // SIGKILL
  // After kill(), with what it kept of the cluster, and of its keys if the options say so.
  void restart(std::size_t index) { bring_back(index, &RespProcess::restart); }
  void restart_elsewhere(std::size_t index) { bring_back(index, &RespProcess::restart_elsewhere); }

 private:
  struct Server {
    std::unique_ptr<RespProcess> process;
    std::unique_ptr<RespConnection> connection;
    std::string id;
    bool stopped = false;
  };

  void launch();
  void form() const;
  void send_node_timeout(std::chrono::milliseconds timeout);
  void bring_back(std::size_t index, void (RespProcess::*way)());
  RespConnection& connection(std::size_t index);
  void expect_ok(std::size_t index, const RespConnection::Words& command);
  void expect_all_ok(std::size_t index, const std::vector<RespConnection::Words>& commands);
  std::size_t owner(const protocol::resp::SlotMap& map, std::uint16_t slot) const;
  // Those of a listing; returns how many.
  std::size_t move_keys(const protocol::resp::KeptReply& keys, std::size_t from, std::size_t to);
  void move_all_keys(std::size_t from, std::size_t to, std::span<const std::uint16_t> slots);
  // Empty if all is settled, else what is not.
  std::string unsettled();
  std::string unsettled(std::size_t index, const protocol::resp::TopologyView& view,
                        const protocol::resp::SlotMap& map,
                        const std::vector<protocol::resp::TopologyView>& all);

  RespClusterOptions options_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::uint64_t asked_ = 0;
};

}  // namespace sheaf::test
