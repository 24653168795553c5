#include "client/calls/connection_for_key.h"

namespace sheaf::client::calls {
namespace {

// More callers share the client's own connection: what they ask then leaves in few writes, and is
// answered in few. With fewer there is little to merge, and callers wait for each other, above all
// those that sleep.
bool is_few(runtime::Context& context, unsigned others, std::size_t servers, Deadline now) {
  const bool yields = context.path().loop().yielding().pays(now);
  return others < (yields ? servers + 1 : 6 * servers);
}

}  // namespace

ConnectionForKey::ConnectionForKey(runtime::Context& context, const KeyRequest& request,
                                   Deadline now)
    : context_(context), request_(request) {
  const unsigned others = other_callers(context, now);
  if (others == 0 || !enough_for(context, others)) return;
  const auto topology = context.topology();
  if (!is_few(context, others, topology->members().size(), now)) return;
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
