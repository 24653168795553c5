#include "client/calls/extra_connection.h"

#include <array>

namespace sheaf::client::calls {

using runtime::ExtraConnections;

// A call that needs more servers uses the client's own connections.
constexpr std::size_t most_servers = 16;

unsigned other_callers(runtime::Context& context, Deadline now) {
  ExtraConnections* const connections = context.extra_connections();
  if (connections == nullptr || context.lane().has_async() || context.unheard() > 0) return 0;
  return connections->other_callers(context.lane().callers(), now);
}

bool enough_for(runtime::Context& context, unsigned callers) noexcept {
  return callers <= context.extra_connections()->limit();
}

ExtraConnections::Lease extra_connection(runtime::Context& context,
                                         std::span<const std::uint32_t> nodes, std::uint64_t epoch,
                                         Deadline now, std::chrono::nanoseconds patience) {
  if (nodes.size() > most_servers) return {};
  std::array<ExtraConnections::Server, most_servers> servers;
  // False if no call may use one now. Then `servers` says which outages were known before.
  const auto may_use = [&](bool first) {
    if (context.extra_connections()->late_writes() > 0) return false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto signs = context.cluster().nodes().last_signs(nodes[i]);
      if (signs.health != NodeHealth::up || signs.owes) return false;
      if (first) servers[i] = {nodes[i], signs.outages};
      if (servers[i].outages != signs.outages) return false;
    }
    return true;
  };
  if (!may_use(true)) return {};
  auto lease = context.extra_connections()->borrow(
      {std::span(servers).first(nodes.size()), epoch, patience}, now);
  if (patience.count() > 0 && !may_use(false)) return {};  // it may have waited
  return lease;
}

socket::Wait wait_on_extra_connection(Stop stop) noexcept {
  return stop == nullptr ? socket::Wait::read : socket::Wait::sleep;
}

bool lost(const Error& error) noexcept {
  const bool unanswered = error.outcome == Outcome::not_sent || error.outcome == Outcome::unknown;
  return unanswered && error.reason != Reason::timed_out && error.reason != Reason::cancelled;
}

}  // namespace sheaf::client::calls
