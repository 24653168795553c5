#pragma once

// The cluster of redirects_harness.h with a replica: a:1 owns the slots below 100, b:1 the others,
// and r:1 replicates a:1. Reads may go to replicas.
//
// Thread rule: one thread.

#include <array>
#include <string>

#include "tests/cluster/redirects_harness.h"

namespace sheaf::cluster {

class ReplicaReadsTest : public RedirectsTest {
 protected:
  ReplicaReadsTest() { begin_with(ReplicaMiss::confirm); }

  void begin_with(ReplicaMiss misses, ReadTarget reads = ReadTarget::replicas) {
    cluster->shut_down(loop.now());
    loop.settle();
    cluster.reset();
    config.reads = reads;
    config.replica_misses = misses;
    RedirectRules rules;
    rules.table = &table;
    rules.source = &maps;
    begin(rules);
    apply({a, b, r}, {{100, 0}, {16'384, 1}}, std::array{nobody, nobody, 0u});
  }
  RedirectedOp& read(const std::string& key,
                     std::chrono::nanoseconds timeout = std::chrono::seconds(5)) {
    return start(key, timeout, 0, true);
  }
  void answer_with(const std::string& server, protocol::Status status) {
    session(server)->answer(status);
    network.deliver(*session(server));
  }
  void miss(const std::string& server) { answer_with(server, protocol::Status::absent); }
  void lose(const std::string& server) {
    session(server)->end(Reason::connection_lost, "gone");
    network.deliver(*session(server));
  }
  void take_down(const std::string& server) {
    lose(server);
    while (cluster->node(cluster->topology().find(server)->index()).usable()) {
      loop.pass(std::chrono::milliseconds(500));
      while (network.dialing() > 0) network.refuse();
    }
  }
  // The owner takes 2 ms to answer, its replica 1 ms: from now on reads go to the replica.
  void make_replica_faster() {
    start("7");
    loop.pass(std::chrono::milliseconds(2));
    answer("a:1");
    read("7");
    loop.pass(std::chrono::milliseconds(1));
    answer("r:1");
  }

  const NodeConfig r{"r", 1, 1};
};

}  // namespace sheaf::cluster
