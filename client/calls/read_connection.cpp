#include "client/calls/read_connection.h"

#include <array>

namespace sheaf::client::calls {

using runtime::ReadConnections;

namespace {

// A read that needs more servers uses the client's own connections.
constexpr std::size_t most_servers = 16;

unsigned other_callers(runtime::Context& context, Deadline now) {
  return context.read_connections()->other_callers(context.lane().callers(), now);
}

}  // namespace

unsigned sharing_callers(runtime::Context& context, Deadline now) {
  if (context.read_connections() == nullptr) return 0;
  const unsigned others = other_callers(context, now);
  return others <= context.read_connections()->limit() ? others : 0;
}

bool lost(const Error& error) noexcept {
  const bool unanswered = error.outcome == Outcome::not_sent || error.outcome == Outcome::unknown;
  return unanswered && error.reason != Reason::timed_out && error.reason != Reason::cancelled;
}

ReadConnections::Lease read_connection(runtime::Context& context,
                                       std::span<const std::uint32_t> nodes, std::uint64_t epoch,
                                       Deadline now) {
  ReadConnections* const connections = context.read_connections();
  if (connections == nullptr || nodes.size() > most_servers || context.lane().has_async())
    return {};
  if (other_callers(context, now) == 0) return {};
  std::array<ReadConnections::Server, most_servers> servers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto signs = context.cluster().nodes().last_signs(nodes[i]);
    if (signs.health != NodeHealth::up) return {};
    servers[i] = {nodes[i], signs.outages};
  }
  return connections->borrow({std::span(servers).first(nodes.size()), epoch}, now);
}

}  // namespace sheaf::client::calls
