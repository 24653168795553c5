// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/slot_rules.h"

#include <algorithm>

namespace sheaf::test::resp_model {

using protocol::resp::hash_slot;

Ruling rule_on(const Asked& asked, const ClusterView& view, const Keyspace& keys,
               const Dialect& dialect, bool cluster_down, Deadline now) {
  if (asked.keys.empty()) return {};
  const Slot slot = hash_slot(asked.keys[0]);
  const auto all_in_slot = std::ranges::all_of(
      asked.keys, [slot](const std::string& key) { return hash_slot(key) == slot; });
  const NodeNumber owner = view.owner(slot);
  if (dialect.is_garnet() && !all_in_slot) return {Verdict::cross_slot, slot};
  if (owner == nobody) {
    const bool nowhere = dialect.is_garnet() && view.own().is_replica() && asked.write;
    return {nowhere ? Verdict::moved_nowhere : Verdict::not_served, slot};
  }
  if (!all_in_slot) return {Verdict::cross_slot, slot};
  if (cluster_down) return {Verdict::down, slot};

  const auto present = static_cast<std::size_t>(std::ranges::count_if(
      asked.keys, [&](const std::string& key) { return keys.find(key, now) != nullptr; }));
  const bool some_missing = present < asked.keys.size();
  const auto migrating = view.migrating().find(slot);
  if (owner == view.self() && migrating != view.migrating().end()) {
    if (some_missing && present > 0) return {Verdict::try_again, slot};
    if (some_missing) return {Verdict::ask, slot, migrating->second};
    if (asked.write && dialect.bare_migrating) return {Verdict::migrating, slot};
    return {};
  }
  if (owner != view.self() && view.importing().contains(slot) && asked.asking) {
    // Several mentions of one key count as one.
    const bool several = std::ranges::any_of(
        asked.keys, [&](const std::string& key) { return key != asked.keys[0]; });
    if (several && some_missing && !dialect.is_garnet()) return {Verdict::try_again, slot};
    return {};
  }
  if (asked.readonly && !asked.write && view.own().primary == owner) return {};
  if (owner != view.self()) return {Verdict::moved, slot, owner};
  return {};
}

std::string error_of(const Ruling& ruling, const ClusterView& view, const Dialect& dialect) {
  const std::string slot = std::to_string(ruling.slot);
  switch (ruling.verdict) {
    case Verdict::not_served:
      return "CLUSTERDOWN Hash slot not served";
    case Verdict::cross_slot:
      return dialect.is_garnet() ? "CROSSSLOT Keys in request do not hash to the same slot"
                                 : "CROSSSLOT Keys in request don't hash to the same slot";
    case Verdict::down:
      return "CLUSTERDOWN The cluster is down";
    case Verdict::try_again:
      return "TRYAGAIN Multiple keys request during rehashing of slot";
    case Verdict::ask:
      return "ASK " + slot + " " + view.entry(ruling.target).address.text();
    case Verdict::moved:
      return "MOVED " + slot + " " + view.entry(ruling.target).address.text();
    case Verdict::moved_nowhere:
      return "MOVED " + slot + " unassigned:0";
    case Verdict::migrating:
      return "MIGRATING";
    case Verdict::served:
      break;
  }
  return {};
}

}  // namespace sheaf::test::resp_model
