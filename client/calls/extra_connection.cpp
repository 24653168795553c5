#include "client/calls/extra_connection.h"

#include <array>
#include <optional>

namespace sheaf::client::calls {

using runtime::ExtraConnections;

namespace {

// A call that needs more servers uses the client's own connections.
constexpr std::size_t most_servers = 16;
using Servers = std::array<ExtraConnections::Server, most_servers>;

// What a call of these nodes needs; nothing if it may use no extra connection now.
std::optional<Servers> usable_servers(runtime::Context& context,
                                      std::span<const std::uint32_t> nodes) {
  if (context.extra_connections()->late_writes() > 0) return std::nullopt;
  Servers servers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto signs = context.cluster().nodes().last_signs(nodes[i]);
    if (signs.health != NodeHealth::up || signs.owes) return std::nullopt;
    servers[i] = {nodes[i], signs.outages};
  }
  return servers;
}

}  // namespace

unsigned other_callers(runtime::Context& context, Deadline now) {
  ExtraConnections* const connections = context.extra_connections();
  if (connections == nullptr || context.lane().has_async() || context.unheard() > 0) return 0;
  return connections->other_callers(context.lane().callers(), now);
}

bool enough_for(runtime::Context& context, unsigned callers) noexcept {
  return callers <= context.extra_connections()->limit();
}

bool are_few(runtime::Context& context, unsigned others, const MostCallers& most,
             Deadline now) noexcept {
  const bool yields = context.path().loop().yielding().pays(now);
  return others < (yields ? most.yielding : most.sleeping);
}

ExtraConnections::Lease extra_connection(runtime::Context& context,
                                         std::span<const std::uint32_t> nodes, std::uint64_t epoch,
                                         Deadline now, std::chrono::nanoseconds patience) {
  if (nodes.size() > most_servers) return {};
  const auto servers = usable_servers(context, nodes);
  if (!servers) return {};
  auto lease = context.extra_connections()->borrow(
      {std::span(*servers).first(nodes.size()), epoch, patience}, now);
  const bool waited = patience.count() > 0;
  if (waited && usable_servers(context, nodes) != servers) return {};
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
