#pragma once

// Which commands without keys have the answer or the effect of one node only. In a cluster such a
// command is sent to a node that the caller names, or to each node that owns keys.
//
// The servers' own tips (`request_policy` of COMMAND) do not decide: Redis before 7 and Garnet give
// none, and they also ask for PING at every node.
//
// Thread rule: pure functions; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <span>
#include <string>
#include <string_view>

namespace sheaf::protocol::resp {

// The name of such a command, with its subcommand if only that one is meant: "FLUSHALL", "CLUSTER
// RESET"; empty for all others. The case of names does not matter.
//
// Any node may carry out what says the same everywhere: PING, ECHO, TIME, LOLWUT, COMMAND, PUBLISH,
// which servers of a cluster pass on, CLUSTER INFO, NODES, SLOTS, SHARDS and KEYSLOT, ACL CAT,
// GENPASS and WHOAMI, HELP of any command, and scripts and functions without keys.
std::string command_of_each_node(std::span<const std::string_view> words);

}  // namespace sheaf::protocol::resp
