#include "client/lock/guard_calls.h"

#include "base/text.h"
#include "client/runtime/outcomes.h"
#include "cluster/placement/locator.h"

namespace sheaf::client::lock {
namespace {

// A token counts only on the lock's node. Without tokens, each key has its own version.
std::optional<Error> check_node(const LockSession& session, const cluster::Topology& topology,
                                const FencedTarget& target) {
  if (!session.fenced() || target.other_node) return std::nullopt;
  const std::uint32_t home = topology.owner(session.name());
  const std::uint32_t there = topology.owner(target.key);
  if (home == there || home == cluster::nobody || there == cluster::nobody) return std::nullopt;
  const std::string tag(cluster::routing_key(session.name()));
  return runtime::local_error(
      Outcome::invalid, Reason::bad_argument,
      "the key " + printable(target.key) + " is on " + topology.identity(there) + ", its lock " +
          printable(session.name()) + " on " + topology.identity(home) +
          ", the only node that checks the token; begin the key with {" + printable(tag) + "}");
}

}  // namespace

Result<FencedTerms> fenced_terms(LockSession& session, calls::Form form, const FencedTarget& target,
                                 std::optional<Error> wrong) {
  if (auto refused = session.context().refusal(form == calls::Form::blocking)) {
    return Failure(std::move(*refused));
  }
  const auto topology = session.context().topology();
  const auto key_error = calls::check_key(target.key);
  const auto node_error = key_error ? std::nullopt : check_node(session, *topology, target);
  const auto admitted = calls::admit(session.context(), form, target.timeout, target.stop,
                                     calls::first_of(key_error, node_error, std::move(wrong)));
  if (!admitted) return Failure(admitted.error());
  if (!session.view().held()) return Failure(not_held(session.name(), {}));
  FencedTerms terms;
  terms.key = target.key;
  terms.started = admitted->started;
  terms.deadline = admitted->deadline;
  terms.parent = admitted->parent;
  terms.bound = (session.fenced() && !target.other_node) ||
                topology->owner(session.name()) == topology->owner(target.key);
  return terms;
}

}  // namespace sheaf::client::lock
