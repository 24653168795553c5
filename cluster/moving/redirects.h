#pragma once

// Redirects: the requests of a cluster that servers have sent elsewhere, and what the cluster
// learns from that (docs/design/0023-redirects.md).
//
// | request   | input                           | then                             | next      |
// |-----------|---------------------------------|----------------------------------|-----------|
// | in flight | an answer with a redirect       | its plan (redirect_plan.h) says  | waits, or |
// |           |                                 | where next and when, or fails    | has ended |
// | waits     | its moment has come             | starts there; if that server has | in flight |
// |           |                                 | left, or is the one that said    |           |
// |           |                                 | "later", at the key's owner      |           |
// | waits     | the same, and the slot has no   | as if a server had said "later"  | waits, or |
// |           | owner                           |                                  | has ended |
// | waits     | the deadline, cancel, shut_down | ends                             | has ended |
// | in flight | its target was not reached, and | as if a server had said "later"  | waits, or |
// |           | who redirected it owns the slot |                                  | has ended |
// | in flight | any other end                   | as if it had not been redirected | has ended |
//
// "In flight" includes the queue of a node. A request whose slot has no owner waits in the same
// way, before it is sent for the first time. A request that ends while it waits was not carried
// out: it ends as `refused`, with the last words of a server, or as `not_sent` if no server had it.
//
// A moved slot gets its new owner at once: from the loop's deferred work another topology is
// applied, one for all redirects of a turn, before the requests that wait start. A target that is
// no member becomes one by the same change.
//
// Thread rule: belongs to one lane.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cluster/moving/allowed_hosts.h"
#include "cluster/moving/map_calm.h"
#include "cluster/moving/request.h"
#include "cluster/moving/strangers.h"
#include "cluster/nodes/cluster_nodes.h"

namespace sheaf::cluster {

// Who fetches the whole map of slots.
class MapSource {
 public:
  // It is to be fetched now, from the member `first`, an identity, if that answers; if it is empty,
  // from any. Redirects::on_map() must follow; nothing more is asked before that. May start
  // requests.
  virtual void fetch_map(std::string_view first, Now now) = 0;
  // Whether the map has a server on this host, even one that owns nothing, to which what this
  // client sends may go.
  virtual bool names(std::string_view /*host*/) const { return false; }
  // Why nothing may go to this host whatever the map says, in one clause; empty: it may.
  virtual std::string_view ban(std::string_view /*host*/) const { return {}; }
  // The host that the map has for one that servers call by another name; empty: it knows none.
  virtual std::string host_called(std::string_view /*name*/, std::uint16_t /*port*/) const {
    return {};
  }
  // To whom a slot is on its way, if the latest map says so.
  virtual std::optional<NodeConfig> importer(std::uint16_t /*slot*/) const { return std::nullopt; }
  // Why there is no map.
  struct Problem {
    std::string_view text{};            // one clause; empty: there is one
    Reason reason = Reason::timed_out;  // of the latest server that did not give it
    bool lasting = false;               // all servers have refused it for good, in the latest round
  };
  virtual Problem problem() const noexcept { return {}; }
  // Redirects have changed the topology.
  virtual void on_mended(const std::shared_ptr<const Topology>& /*topology*/, Now) {}

 protected:
  ~MapSource() = default;
};

struct RedirectRules {
  // Of the topologies. Null: learns nothing, and goes to members only.
  NodeEntries* table = nullptr;
  AllowedHosts allowed{};
  MapSource* source = nullptr;  // null: nobody fetches maps
  // Why no request is sent elsewhere, in one clause: then it only waits where a server says
  // "later".
  std::string_view stays{};
  MapCalmOptions calm{};
};

// Whose topology it is.
class TopologyHolder {
 public:
  virtual void apply(std::shared_ptr<const Topology> topology, Now now) = 0;

 protected:
  ~TopologyHolder() = default;
};

class Redirects final : private socket::Deferred {
 public:
  // What it has of its cluster, which outlives it.
  struct Parts {
    ClusterNodes& nodes;
    node::NodeOwner& owner;
    TopologyHolder& holder;
    node::EarliestTimer& timer;
    socket::Loop& loop;
    node::EventLog& events;
  };

  Redirects(const Parts& parts, RedirectRules rules, const Seed& seed);
  ~Redirects();
  Redirects(const Redirects&) = delete;
  Redirects& operator=(const Redirects&) = delete;

  // A node has this answer, with a redirect, to a request that has left its connection. True: the
  // request is taken, and has ended or will start elsewhere. False: it ends as it is.
  bool take(Request& request, const protocol::Reply& reply, Now now);
  // Nobody owns the slot of a request. True: it waits until somebody does, or has ended. False: it
  // cannot be waited for.
  bool await_owner(Request& request, Now now);
  // A request did not reach the server that it was redirected to, and its key is at `owner`. If
  // that has redirected it, it would do so again at once. True: it goes there later, or has ended.
  bool return_later(Request& request, std::uint32_t owner, Now now);
  // The node of a request, the owner of its key, is down: then nobody sends requests elsewhere, and
  // the slot may have another owner. True: the request goes to another server, to hear that; at
  // most one does in a second, until one hears of another owner: then as many as come in the next
  // second. The map is wanted, too.
  bool ask_around(Request& request, Now now);
  // A node says where a key belongs, to a request outside the cluster (node/watch_line.h): the slot
  // is mended. Who asked asks again later, wherever the key has its owner then.
  void learn(std::string_view key, std::uint32_t from, const protocol::Redirect& to, Now now);
  // Whether a request waits here.
  bool holds(const Request& request) const noexcept;
  // Of one that waits: its deadline has come, or its submitter wants no answer any more.
  void expire(Request& request, Now now);
  void cancel(Request& request, Now now);
  // A request has ended, here or elsewhere.
  void forget(Request& request) noexcept;

  // Does what is due. Not from within a completion.
  void advance(Now now);
  Deadline poll_deadline() const noexcept;
  // Another topology holds.
  void on_topology();

  // The whole map is wanted: nobody serves a slot.
  void want_map(Now now);
  // A request cannot go on without it.
  void need_map(Now now);
  // The map that was asked for is there, and applied; or it could not be had.
  void on_map(bool good, Now now);

  void shut_down(Now now);

 private:
  using Moves = std::map<std::uint32_t, NodeConfig>;  // new owners, by slot
  using Joins = std::map<std::string, NodeConfig>;    // servers, by identity

  void run_deferred(Now now) override { advance(now); }
  bool learns() const noexcept {
    return rules_.table != nullptr && parts_.nodes.topology().assigned();
  }
  std::string host_of(const protocol::Redirect& to) const;
  NodeConfig target_of(const protocol::Redirect& to, std::uint32_t from,
                       std::string_view key) const;
  std::string named_by_map(const protocol::Redirect& to, std::string_view key) const;
  RedirectStep plan(Redirected& redirected, const protocol::Reply& reply, Now now);
  std::uint32_t place_of(const Redirected& redirected) const;
  bool has_taken_over(const std::string& target, const Request& request) const;
  bool is_allowed(std::string_view host) const;
  bool may_be_named(const std::string& host, std::string& obstacle);
  bool may_join(const std::string& identity) const;
  void follow(Redirected& redirected, const RedirectStep& step, Now now);
  void resume(Redirected& redirected, Now now);
  void end(Request& request, Outcome outcome, Reason reason, std::string text, Now now);
  void mend(Now now);

  const Parts parts_;
  const RedirectRules rules_;
  MapCalm calm_;
  DeadlineHeap<Redirected> waiting_;
  Moves moves_;  // to be carried out
  Joins joins_;  // to become members
  Strangers strangers_;
  std::string ask_first_;         // for the map: who knows what is missing in it
  bool asking_ = false;           // for a map
  Moves since_asked_;             // carried out since then: later than that map
  Deadline ask_around_at_{0};     // not earlier, but
  Deadline all_ask_until_{0};     // at any time before
  std::size_t asked_around_ = 0;  // requests
  bool shut_down_ = false;
};

}  // namespace sheaf::cluster
