#include "client/calls/get_call.h"

#include "client/calls/call.h"
#include "client/calls/read_connection.h"

namespace sheaf::client::calls {
namespace {

using runtime::ReadConnections;

// With more callers for each server, gets share the client's own connection: what they ask then
// leaves in few writes, and is answered in few. With fewer there is little to merge, and callers
// wait for each other, above all those that sleep (docs/design/0011-read-connections.md).
constexpr unsigned most_yielding = 1;
constexpr unsigned most_sleeping = 6;

ReadConnections::Lease read_connection_of(runtime::Context& context, const KeyRequest& request,
                                          std::uint32_t& node, Deadline now) {
  const unsigned others = sharing_callers(context, now);
  if (others == 0) return {};
  const auto topology = context.topology();
  const bool yields = context.path().loop().yielding().pays(now);
  if (others >= (yields ? most_yielding : most_sleeping) * topology->members().size()) return {};
  node = topology->owner(request.operation.key);
  if (node == cluster::nobody) return {};
  return read_connection(context, {&node, 1}, topology->epoch(), now);
}

}  // namespace

Result<GetResult> get(runtime::Context& context, KeyRequest request) {
  const auto admitted = admit(context, request);
  if (!admitted) return Failure(admitted.error());
  std::uint32_t node = cluster::nobody;
  if (const auto lease = read_connection_of(context, request, node, admitted->started)) {
    const HowToWait how{0, wait_on_read_connection(request.stop)};
    auto out = run_on<runtime::GetOp>(*lease, how, request, *admitted);
    if (!out && out.error().outcome != Outcome::refused) lease.distrust({&node, 1});
    if (out || !lost(out.error())) return out;
  }
  return run_on<runtime::GetOp>(context.path(), HowToWait::for_keys(1, 1), request, *admitted);
}

}  // namespace sheaf::client::calls
