#pragma once

// SocketTotals: the counters of one kind of connections, including those that have ended.
//
// Thread rule: a plain value.

#include <sheaf/stats.h>

#include "socket/client_socket.h"

namespace sheaf::node {

struct SocketTotals {
  std::uint64_t connects = 0;          // became ready
  std::uint64_t connect_failures = 0;  // ended before they were ready
  std::uint64_t lost = 0;              // were ready, and were not ended by us
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t late_replies = 0;
  std::uint64_t bad_timestamps = 0;

  void add(const socket::ClientSocket& socket) {
    bytes_sent += socket.traffic().sent;
    bytes_received += socket.traffic().received;
    late_replies += socket.session().counters().late_replies;
    bad_timestamps += socket.session().counters().bad_timestamps;
  }
  void add_to(NodeStats& stats) const noexcept {
    stats.connects += connects;
    stats.connect_failures += connect_failures;
    stats.connections_lost += lost;
    stats.bytes_sent += bytes_sent;
    stats.bytes_received += bytes_received;
    stats.late_replies += late_replies;
    stats.bad_timestamps += bad_timestamps;
  }
};

}  // namespace sheaf::node
