#pragma once

// ModelConnection: a client's connection to a node of a model cluster, from bytes to bytes.
//
// | a command                                    | its reply                              |
// |----------------------------------------------|----------------------------------------|
// | is not known, or has a wrong number of words | an error                               |
// | comes before a login that the cluster wants  | NOAUTH                                 |
// | is for keys that are not served here         | as slot_rules.h says                   |
// | comes while the node loads                   | LOADING, but a few are carried out     |
// | is carried out                               | its own                                |
//
// ASKING applies to the next command, whatever that is; on Garnet to a run of GETs that arrives in
// one piece.
//
// After CLIENT TRACKING ON each key that is read is remembered. When its value in the node's keys
// differs, a push reports it and the key is forgotten. As on a real server, nothing is reported
// about a key that is absent before its slot leaves, nor after. Garnet has no tracking.
//
// Transactions are Garnet's. WATCH is for keys that are served here. EXEC checks all queued
// commands together, and an error is then its reply. ASKING applies to MULTI, as to any next
// command, and so does not help. A watched key counts as written if it holds another value.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/resp_model/command_parser.h"
#include "tests/support/resp_model/command_table.h"
#include "tests/support/resp_model/model_cluster.h"
#include "tests/support/resp_model/reply_writer.h"

namespace sheaf::test::resp_model {

class ModelConnection {
 public:
  // `cluster` outlives it.
  ModelConnection(ModelCluster& cluster, NodeNumber node);

  // Returns the replies to the commands that are complete now. A stopped node gives none until it
  // resumes and receives more, even if that is nothing.
  std::string receive(std::string_view bytes, Deadline now);
  // The pushes that are due by now.
  std::string pushes(Deadline now);
  bool tracks() const { return tracks_; }
  // True if the server closes the connection after these replies.
  bool closed() const { return closed_ || process_ != node().process; }

  std::uint64_t number() const { return number_; }
  const std::string& client() const { return client_; }

 private:
  ModelNode& node() { return cluster_.node(node_); }
  const ModelNode& node() const { return cluster_.node(node_); }
  const Dialect& dialect() const { return cluster_.options().dialect; }

  void answer(const Words& words, Deadline now);
  // True if it is refused; the error is then written.
  bool refused(const CommandSpec& spec, const Words& words, bool asking, Deadline now);
  bool refuse(std::string_view error);
  void run_on_keys(const CommandSpec& spec, const Words& words, Deadline now);
  void queue(const CommandSpec& spec, const Words& words);
  void watch(const Words& words, Deadline now);
  void execute(Deadline now);
  void discard();
  void run_on_cluster(const Words& words, Deadline now);
  void run_on_connection(const CommandSpec& spec, const Words& words, Deadline now);
  void hello(const Words& words);
  bool hello_options(const Words& words);
  void write_greeting();
  void client_command(const Words& words);
  void list_commands();
  std::optional<std::string> held(const std::string& key, Deadline now);
  void ping(const Words& words);
  // Returns an error, or nothing if the login is accepted.
  std::string_view log_in(std::string_view user, std::string_view password);
  ReplyWriter reply() { return ReplyWriter(out_, protocol_); }

  ModelCluster& cluster_;
  const NodeNumber node_;
  const unsigned process_;
  const std::uint64_t number_;
  CommandParser parser_;
  std::string out_;
  std::string client_ = "default";
  std::string name_;
  int protocol_ = 2;
  bool logged_in_;
  std::string password_;  // of the last login
  bool asking_ = false;
  bool readonly_ = false;
  bool closed_ = false;
  bool tracks_ = false;
  std::map<std::string, std::optional<std::string>> tracked_;  // what each key held
  std::map<std::string, std::optional<std::string>> watched_;  // the same
  std::optional<std::vector<Words>> queued_;                   // since MULTI
  // The tracked keys still hold that if these are the node's keys, with so many changes, and no
  // tracked key has ended since.
  const Keyspace* keys_ = nullptr;
  std::uint64_t changes_ = 0;
  Deadline first_end_ = never;
};

}  // namespace sheaf::test::resp_model
