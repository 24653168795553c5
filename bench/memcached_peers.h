#pragma once

// Extends bench/fleet.h for memcached_compare: memcached as raw sockets speak it, and libmemcached.

#include "bench/fleet.h"

namespace bench {

extern const RawWire memcached_wire;

enum class LibKind {
  binary,         // versions come with every value
  text,           // without versions, as it is by default
  text_versions,  // SUPPORT_CAS: versions, which sheaf always gives
  unacknowledged  // BUFFER_REQUESTS and NOREPLY
};
Contestant memcached_lib(const Data& data, const Job& job, LibKind kind);

}  // namespace bench
