#pragma once

// RespCluster: a live cluster of servers of the Redis protocol for a test. The constructor forms
// it; its functions change it as clusters change: slots move, replicas take over, servers stop, end
// and come back.
//
// Functions that wait do so for a condition, for 60 s at most, and then throw std::runtime_error.
//
// Thread rule: that of ServerProcess.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
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
  // Redis and Valkey only:
  std::vector<std::string> lines{};  // more lines of redis.conf
  std::vector<std::string> tls{};    // lines that give each server an additional TLS port
  // How long a server may not answer before it counts as gone, once the cluster is formed. The
  // default is so long that a slow machine does not trigger it.
  std::chrono::milliseconds node_timeout{20'000};

  bool operator==(const RespClusterOptions&) const = default;
};

class RespCluster {
 public:
  // The replies that describe a cluster.
  enum class Form : std::uint8_t { nodes, shards, slots };

  explicit RespCluster(RespClusterOptions options = {});

  const RespClusterOptions& options() const { return options_; }
  // Makes it as after the constructor, except for ports: killed and stopped servers run again, in
  // their configuration, and form an empty cluster. Not for Garnet, nor if users were changed.
  void form_again();
  // Makes it empty if nothing but keys, scripts and counts has changed. It ends all connections of
  // clients.
  void forget_keys();

  // The primaries come first, then the replicas: server i replicates i % primaries.
  std::size_t size() const { return servers_.size(); }
  RespProcess& server(std::size_t index) { return *servers_.at(index)->process; }
  const std::string& id(std::size_t index) const { return servers_.at(index)->id; }
  std::uint16_t port(std::size_t index) const { return servers_.at(index)->process->port(); }
  bool is_garnet() const { return options_.software == RespSoftware::garnet; }

  // True if the server runs and is not stopped.
  bool answers(std::size_t index) const;
  // Both use a connection that the cluster keeps to this server.
  std::string text(std::size_t index, std::initializer_list<protocol::resp::Argument> command);
  protocol::resp::KeptReply ask(std::size_t index, const RespConnection::Words& command);
  // Sends all commands in one piece; returns the replies in order.
  std::vector<protocol::resp::KeptReply> ask_all(
      std::size_t index, const std::vector<RespConnection::Words>& commands) {
    return connection(index).ask_all(commands);
  }
  // Makes another connection and logs in.
  RespConnection connect(std::size_t index) const;

  // ---- what the servers say
  // Later views have larger numbers.
  protocol::resp::TopologyView view(std::size_t index, Form form = Form::nodes);
  // The same, or why the reply is not a view.
  protocol::resp::ParsedView try_view(std::size_t index, Form form);
  // The views of all running servers.
  std::vector<protocol::resp::TopologyView> views(Form form = Form::nodes);
  // The server that owns the slot according to all views.
  std::size_t owner(std::uint16_t slot);
  // The owner of every slot. Throws if one has none.
  std::vector<std::size_t> owners();
  // Returns when all running servers agree about each other and about every slot, serve, and
  // replicate.
  void wait_until_settled();

  // ---- moves of slots, to another primary
  // Sets IMPORTING at the target, then MIGRATING at the owner.
  void begin_migration(std::uint16_t slot, std::size_t to);
  // Moves up to `most` keys of the slot; returns how many. Clients may use them meanwhile.
  std::size_t move_keys(std::uint16_t slot, std::size_t to, std::size_t most = 1'000);
  // Gives the slot to its new owner, which learns of it first, so that two servers never redirect
  // clients to each other.
  void end_migration(std::uint16_t slot, std::size_t to);
  // The whole migration, even under load.
  void migrate(std::uint16_t slot, std::size_t to);
  // Migrates many slots of one primary, all at the same time.
  void migrate(std::size_t from, std::size_t to, std::span<const std::uint16_t> slots);
  // Valkey 9 only: its servers move the slots on their own, and all slots change hands at once.
  bool moves_atomically() { return ask(0, {"CLUSTER", "GETSLOTMIGRATIONS"}).root().is_aggregate(); }
  void begin_atomic_migration(std::size_t from, std::size_t to,
                              std::span<const std::uint16_t> slots);
  // Cancels all migrations that the server has begun.
  void cancel_atomic_migrations(std::size_t from);
  // Waits for the end of the latest migration. Returns its state with the server's message, if it
  // has one: "success", "cancelled", "failed: ...".
  std::string end_of_atomic_migration(std::size_t from);

  // ---- changes of servers
  // Makes a replica the primary; returns when the change is complete. `how`: FORCE, TAKEOVER or
  // nothing. A Garnet under load needs FORCE or TAKEOVER.
  void fail_over(std::size_t replica, std::string_view how = {});
  std::chrono::milliseconds node_timeout() const { return node_timeout_; }
  // Sets it on all servers that answer. Does nothing for Garnet.
  void set_node_timeout(std::chrono::milliseconds timeout);
  void stop(std::size_t index);    // SIGSTOP
  void resume(std::size_t index);  // SIGCONT
  void kill(std::size_t index);    // SIGKILL
  // After kill(). The server keeps its state in the cluster, and its keys if the options say so.
  void restart(std::size_t index) { bring_back(index, &RespProcess::restart); }
  void restart_elsewhere(std::size_t index) { bring_back(index, &RespProcess::restart_elsewhere); }

 private:
  struct Server {
    std::unique_ptr<RespProcess> process;
    std::unique_ptr<RespConnection> connection;
    std::string id;
    std::map<std::string, std::string> configuration;  // as its start has made it
  };

  void launch();
  void form();
  std::map<std::string, std::string> configuration(std::size_t index);
  void forget_keys(std::size_t index);
  void empty(std::size_t index);
  void send_node_timeout(std::chrono::milliseconds timeout);
  void bring_back(std::size_t index, void (RespProcess::*way)());
  RespConnection& connection(std::size_t index);
  void expect_ok(std::size_t index, const RespConnection::Words& command);
  void expect_all_ok(std::size_t index, const std::vector<RespConnection::Words>& commands);
  std::size_t owner(const protocol::resp::SlotMap& map, std::uint16_t slot) const;
  // Moves the listed keys; returns how many.
  std::size_t move_keys(const protocol::resp::KeptReply& keys, std::size_t from, std::size_t to);
  void move_all_keys(std::size_t from, std::size_t to, std::span<const std::uint16_t> slots);
  // Empty if all is settled; otherwise says what is not.
  std::string unsettled();
  std::string unsettled(std::size_t index, const protocol::resp::TopologyView& view,
                        const protocol::resp::SlotMap& map,
                        const std::vector<protocol::resp::TopologyView>& all);

  RespClusterOptions options_;
  std::chrono::milliseconds node_timeout_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::uint64_t asked_ = 0;
};

}  // namespace sheaf::test
