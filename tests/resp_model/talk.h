#pragma once

// A client's side of a connection to a model cluster, played by hand in words.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/resp_model/cluster_changes.h"
#include "tests/support/resp_model/model_cluster.h"
#include "tests/support/resp_model/model_connection.h"

namespace sheaf::test::resp_model {

using namespace std::chrono_literals;

// "SET k v" as a client sends it. Words contain no blanks.
inline std::string command_bytes(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n";
    bytes.append(word).append("\r\n");
  }
  return bytes;
}

// Nodes 127.0.0.1:17411, 17412, ...
inline std::vector<NodeAddress> addresses(unsigned count) {
  std::vector<NodeAddress> all;
  for (unsigned i = 0; i < count; ++i) {
    all.push_back({"127.0.0.1", static_cast<std::uint16_t>(17'411 + i)});
  }
  return all;
}

// One connection to each node, and the time.
class Talk {
 public:
  explicit Talk(unsigned primaries = 3, ClusterOptions options = {})
      : cluster(addresses(primaries), 7, std::move(options)) {}

  // The reply to a command on a node's connection.
  std::string to(NodeNumber node, std::string_view command) {
    while (connections_.size() <= node) {
      connections_.push_back(
          std::make_unique<ModelConnection>(cluster, static_cast<NodeNumber>(connections_.size())));
    }
    return connections_[node]->receive(command_bytes(command), now);
  }
  void reconnect(NodeNumber node) {
    connections_[node] = std::make_unique<ModelConnection>(cluster, node);
  }
  ModelConnection& connection(NodeNumber node) { return *connections_[node]; }
  void pass(std::chrono::nanoseconds time) {
    const Deadline end = now + time;
    for (;;) {
      const Deadline next = std::min(cluster.next_tick(), changes.next_tick());
      if (next > end) break;
      now = std::max(now, next);
      cluster.tick(now);
      changes.tick(now);
    }
    now = end;
  }
  // The first key "k<number>" that a node owns in its own view.
  std::string key_of(NodeNumber node) const {
    for (unsigned i = 0;; ++i) {
      const std::string key = "k" + std::to_string(i);
      if (cluster.node(node).view.owner(protocol::resp::hash_slot(key)) == node) return key;
    }
  }
  std::string id(NodeNumber node) const { return cluster.node(node).view.own().id; }

  Deadline now = 1h;
  ModelCluster cluster;
  ClusterChanges changes{cluster};

 private:
  std::vector<std::unique_ptr<ModelConnection>> connections_;
};

}  // namespace sheaf::test::resp_model
