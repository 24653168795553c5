#pragma once

// The log records of a node, and the events of its requests.
//
// Thread rule: as EventLog.

#include <string_view>

#include <sheaf/stats.h>

#include "node/event_log.h"
#include "node/request.h"
#include "socket/seam.h"

namespace sheaf::node {

// The record of a request that did not get the answer it asked for.
LogRecord record_of(const Request& request, const socket::Completion& completion,
                    const EventLog& log);

// The event that the observer gets for a request that has ended.
RequestEvent event_of(const Request& request, const socket::Completion& completion,
                      const socket::Endpoint& server);

// The record of a change of the node's health. `failure`: why it is down, if known.
LogRecord record_of(std::string_view node, NodeHealth health, std::string_view failure);

// The record of a certificate that expires soon, as `text` says.
LogRecord record_of_certificate(std::string_view node, std::string text);

}  // namespace sheaf::node
