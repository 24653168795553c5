#pragma once

// A fourth kind of endpoint, as small as possible: the protocol of toy://. A request is a line and
// a reply is a line, in the order of the requests.
//
// | request       | reply                                    |
// |---------------|------------------------------------------|
// | hello         | welcome; requests may follow             |
// | get KEY       | value VALUE, or absent                   |
// | set KEY VALUE | stored                                   |
// | remove KEY    | removed, or absent                       |
// | ping          | pong                                     |
//
// A key has no blank, and neither key nor value has a line end. The protocol has no versions, times
// to live, watches or batches.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>

#include <sheaf/cluster_config.h>

#include "base/random.h"
#include "protocol/session_factory.h"

namespace sheaf::toy {

std::unique_ptr<protocol::SessionFactory> make_sessions(const ClusterConfig& config, const Seed&);

}  // namespace sheaf::toy
