#pragma once

// RequestLog: what the nodes of a model cluster carried out, in order, and what they refused. A
// test uses it to prove that nothing was carried out twice, so its requests need distinct words,
// such as a value or a key of their own.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/resp_model/cluster_view.h"
#include "tests/support/resp_model/command_parser.h"

namespace sheaf::test::resp_model {

// A command on keys that was carried out.
struct Execution {
  Deadline at{0};
  NodeNumber node = 0;
  std::uint64_t connection = 0;  // numbered across the cluster, from 1
  std::string client;            // the user that logged in, or "default"
  Words words;
  bool write = false;
  std::string reply;  // its bytes, before any fault
};

class RequestLog {
 public:
  void add(Execution execution) {
    if (execution.write || keeps_reads) executions_.push_back(std::move(execution));
  }
  // Adds a refusal, by the first word of its text.
  void add_error(std::string_view text);
  // Adds a reply to CLUSTER NODES, SHARDS or SLOTS.
  void add_fetch(const std::string& client, NodeNumber node, Deadline at);

  const std::vector<Execution>& executions() const { return executions_; }
  // How many commands that begin with these words were carried out.
  std::size_t times(const Words& words) const;
  // Writes that were carried out more than once with the same words; if `command` is given, only
  // its.
  std::vector<Execution> repeats(std::string_view command = {}) const;
  std::uint64_t errors(std::string_view first_word) const;
  std::uint64_t fetches() const;
  std::uint64_t fetches_by(const std::string& client) const;
  std::uint64_t fetches_from(NodeNumber node) const;
  // When each client had replies, in ascending order.
  std::map<std::string, std::vector<Deadline>> fetch_times() const;

  // Long runs have no room for all executions.
  bool keeps_reads = true;
  void forget_executions() { executions_.clear(); }

 private:
  struct Fetch {
    std::string client;
    NodeNumber node = 0;
    Deadline at{0};
  };

  std::vector<Execution> executions_;
  std::map<std::string, std::uint64_t, std::less<>> errors_;
  std::vector<Fetch> fetches_;
};

}  // namespace sheaf::test::resp_model
