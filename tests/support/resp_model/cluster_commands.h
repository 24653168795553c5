#pragma once

// The replies of one node to CLUSTER and INFO, made from its view.
//
// Thread rule: pure functions; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <string>

#include "tests/support/resp_model/command_parser.h"
#include "tests/support/resp_model/model_cluster.h"
#include "tests/support/resp_model/reply_writer.h"

namespace sheaf::test::resp_model {

// CLUSTER MYID, NODES, SHARDS, SLOTS, INFO, KEYSLOT and COUNTKEYSINSLOT.
void run_cluster_command(const Words& words, const ModelNode& node, const Dialect& dialect,
                         Deadline now, ReplyWriter& reply);
// `section`: server, replication, or empty for both.
std::string info_text(const std::string& section, const ModelNode& node, const Dialect& dialect);

}  // namespace sheaf::test::resp_model
