#pragma once

// Redirects: a cluster's redirected requests, and what the cluster learns from them
// (docs/design/0023-redirects.md).
//
// | request   | input                           | then                             | next      |
// |-----------|---------------------------------|----------------------------------|-----------|
// | in flight | an answer with a redirect       | its plan (redirect_plan.h) says  | waits, or |
// |           |                                 | where next and when, or fails    | has ended |
// | waits     | its time has come               | starts there; if that server has | in flight |
// |           |                                 | left, or is the one that said    |           |
// |           |                                 | "later", at the key's owner      |           |
// | waits     | the same, and other operations  | as key_order.h says              | waits, or |
// |           | on its key forbid it            |                                  | has ended |
// | waits     | the same, and the slot has no   | as if a server had said "later"  | waits, or |
// |           | owner                           |                                  | has ended |
// | waits     | the deadline, cancel, shut_down | ends                             | has ended |
// | in flight | its target was not reached, and | as if a server had said "later"  | waits, or |
// |           | the redirecting server owns it  |                                  | has ended |
// | in flight | any other end                   | as if it had not been redirected | has ended |
//
// "In flight" includes the queue of a node. A request whose slot has no owner waits in the same way
// before it is first sent. A request that ends while it waits was not carried out: it ends as
// `refused`, with the last text of a server, or as `not_sent` if no server ever had it.
//
// A moved slot gets its new owner at once: the loop's deferred work applies another topology, one
// for all redirects of a turn, before the waiting requests start. The same change makes the target
// a member if it is not one yet.
//
// Thread rule: belongs to one lane.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cluster/moving/allowed_hosts.h"
#include "cluster/moving/map_calm.h"
#include "cluster/moving/request.h"
#include "cluster/moving/sender.h"
#include "cluster/moving/strangers.h"
#include "cluster/nodes/cluster_nodes.h"

namespace sheaf::cluster {

// Fetches the whole map of slots.
class MapSource {
 public:
  // Fetches the map now, first from the member with the identity `first` if that answers; if it is
  // empty, from any member. Redirects::on_map() must follow; until then no more is asked. May start
  // requests.
  virtual void fetch_map(std::string_view first, Now now) = 0;
  // True if the map has a server on this host, even one that owns nothing, and this client may send
  // its requests and login there.
  virtual bool names(std::string_view /*host*/) const { return false; }
  // Why nothing may go to this host, whatever the map says, in one clause; empty if it may.
  virtual std::string_view ban(std::string_view /*host*/) const { return {}; }
  // Where the map reaches a server that others call by another name; nothing if unknown.
  virtual std::optional<NodeConfig> server_called(std::string_view /*name*/,
                                                  std::uint16_t /*port*/) const {
    return std::nullopt;
  }
  // The server that a slot is moving to, if the latest map says so.
  virtual std::optional<NodeConfig> importer(std::uint16_t /*slot*/) const { return std::nullopt; }
  // Why there is no map.
  struct Problem {
    std::string_view text{};            // one clause; empty: there is a map
    Reason reason = Reason::timed_out;  // from the latest server that did not return it
    bool lasting = false;               // in the latest round all servers refused it permanently
  };
  virtual Problem problem() const noexcept { return {}; }
  // Redirects have changed the topology.
  virtual void on_mended(Now) {}

 protected:
  ~MapSource() = default;
};

struct RedirectRules {
  // The table of the topologies. Null: learns nothing, and goes only to members.
  NodeEntries* table = nullptr;
  AllowedHosts allowed{};
  MapSource* source = nullptr;  // null: maps are not fetched
  // Why requests are never redirected, in one clause: then a request only waits if a server says
  // "later".
  std::string_view stays{};
  // The submitter follows redirects: a redirected request ends as not_sent, without a record.
  bool returns = false;
  MapCalmOptions calm{};
};

// The owner of the topology.
class TopologyHolder {
 public:
  virtual void apply(std::shared_ptr<const Topology> topology, Now now) = 0;

 protected:
  ~TopologyHolder() = default;
};

class Redirects final : private socket::Deferred {
 public:
  // The parts of its cluster, which must outlive it.
  struct Parts {
    ClusterNodes& nodes;
    TopologyHolder& holder;
    Sender& sender;
    node::EarliestTimer& timer;
    socket::Loop& loop;
  };

  Redirects(const Parts& parts, RedirectRules rules, const Seed& seed);
  ~Redirects();
  Redirects(const Redirects&) = delete;
  Redirects& operator=(const Redirects&) = delete;

  // A node has received this redirect for a request that has left its connection. True: the request
  // is taken, and has ended or will start elsewhere. False: it ends with this reply.
  bool take(Request& request, const protocol::Reply& reply, Now now);
  // The slot of a request has no owner. True: the request waits until it has one, or has ended.
  // False: this request cannot wait.
  bool await_owner(Request& request, Now now);
  // A request did not reach the server that it was redirected to, and `owner` owns its key. If
  // `owner` redirected it, it would do so again at once, so the request goes there later. Returns
  // true if it does, or has ended.
  bool return_later(Request& request, std::uint32_t owner, Now now);
  // The owner of a request's key is down, so it sends no redirects, and the slot may have another
  // owner. Returns true if the request goes to another server to find out. At most one request per
  // second does, until one learns of another owner; then every request of the next second does.
  // Also wants the map.
  bool ask_around(Request& request, Now now);
  // True if a request waits for a slot that has no owner.
  bool wants_owner() const;
  // A node redirected a request outside the cluster (node/watch_line.h): mends the slot. The
  // submitter asks again later, at the key's owner of that time.
  void learn(std::string_view key, std::uint32_t from, const protocol::Redirect& to, Now now);
  // True if a request waits here, or is parked after a wait here.
  bool holds(const Request& request) const noexcept;
  // Starts a request whose wait is over, unless the order of its key forbids it.
  void resume(Redirected& redirected, Now now);
  // For a waiting request: its deadline has come, or its submitter no longer wants an answer.
  void expire(Request& request, Now now);
  void cancel(Request& request, Now now);
  // A request has ended, here or elsewhere.
  void forget(Request& request) noexcept;

  // Does what is due. Must not be called within a completion.
  void advance(Now now);
  Deadline poll_deadline() const noexcept;
  // A new topology applies.
  void on_topology();

  // The whole map is wanted, because a slot has no owner.
  void want_map(Now now);
  // A request cannot continue without the map.
  void need_map(Now now);
  // The requested map is there and applied, or could not be fetched.
  void on_map(bool good, Now now);

  void shut_down(Now now);

 private:
  using Moves = std::map<std::uint32_t, NodeConfig>;  // new owners, by slot
  using Joins = std::map<std::string, NodeConfig>;    // servers, by identity

  void run_deferred(Now now) override { advance(now); }
  bool learns() const noexcept {
    return rules_.table != nullptr && parts_.nodes.topology().assigned();
  }
  NodeConfig server_called(const protocol::Redirect& to) const;
  NodeConfig target_of(const protocol::Redirect& to, std::uint32_t from,
                       std::string_view key) const;
  std::string named_by_map(const protocol::Redirect& to, std::string_view key) const;
  RedirectStep plan(Redirected& redirected, const protocol::Reply& reply, Now now);
  std::uint32_t place_of(const Redirected& redirected) const;
  bool is_allowed(std::string_view host) const;
  bool may_be_named(const std::string& host, std::string& obstacle);
  bool may_join(const std::string& identity) const;
  void follow(Redirected& redirected, const RedirectStep& step, Now now);
  void end(Request& request, Outcome outcome, Reason reason, std::string text, Now now);
  void mend(Now now);

  const Parts parts_;
  const RedirectRules rules_;
  MapCalm calm_;
  DeadlineHeap<Redirected> waiting_;
  Moves moves_;           // to be carried out
  Joins joins_;           // to become members
  std::string named_by_;  // the identity of the server that named the latest of them
  Strangers strangers_;
  std::string ask_first_;         // the server to ask first for the next map
  bool asking_ = false;           // for a map
  Moves since_asked_;             // carried out since then, so newer than that map
  Deadline ask_around_at_{0};     // not earlier, except
  Deadline all_ask_until_{0};     // at any time before this
  std::size_t asked_around_ = 0;  // number of requests
  bool shut_down_ = false;
};

}  // namespace sheaf::cluster
