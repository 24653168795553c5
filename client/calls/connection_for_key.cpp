#include "client/calls/connection_for_key.h"

namespace sheaf::client::calls {

ConnectionForKey::ConnectionForKey(runtime::Context& context, const KeyRequest& request,
                                   Deadline now)
    : context_(context), request_(request) {
  const unsigned others = other_callers(context, now);
  if (others == 0 || !enough_for(context, others)) return;
  const auto topology = context.topology();
  const std::size_t servers = topology->members().size();
  if (!are_few(context, others, {servers + 1, 6 * servers}, now)) return;
  owner_ = {topology->epoch(), topology->owner(request.operation.key)};
  if (owner_.node == cluster::nobody) return;
  lease_ = extra_connection(context, {&owner_.node, 1}, owner_.epoch, now);
}

bool ConnectionForKey::failed(const Error& error, std::uint32_t node) {
  if (error.outcome == Outcome::refused) return false;
  lease_.distrust({&node, 1});
  if (request_.operation.verb == protocol::Verb::get) return lost(error);
  if (error.outcome == Outcome::unknown && lease_.owes(node)) {
    lease_.await_write(context_.path(), node, request_.operation.key);
  }
  return error.outcome == Outcome::not_sent && lost(error);
}

}  // namespace sheaf::client::calls
