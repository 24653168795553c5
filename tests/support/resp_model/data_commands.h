#pragma once

// Carries out commands on keys, on the node that has them.
//
// Thread rule: pure functions; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/command_parser.h"
#include "tests/support/resp_model/dialect.h"
#include "tests/support/resp_model/keyspace.h"
#include "tests/support/resp_model/reply_writer.h"

namespace sheaf::test::resp_model {

// The garbage that Garnet sends instead of a reply to PEXPIRE or PERSIST of a dead key: its whole
// send buffer.
inline constexpr std::size_t garnet_garbage = 128 * 1'024;

// The number of words must fit.
void run_data_command(const Words& words, Keyspace& keys, const Dialect& dialect, Deadline now,
                      ReplyWriter& reply);

}  // namespace sheaf::test::resp_model
