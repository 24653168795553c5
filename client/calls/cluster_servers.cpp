// Client::cluster_servers.

#include <algorithm>
#include <map>
#include <utility>

#include "client/calls/admit.h"
#include "client/calls/node_calls.h"
#include "client/calls/work.h"

namespace sheaf::client::calls {
namespace {

// The slots of every member, keyed by its identity.
std::map<std::string, std::vector<SlotRange>, std::less<>> slots_of(
    const cluster::Topology& topology) {
  std::map<std::string, std::vector<SlotRange>, std::less<>> owned;
  const auto owners = topology.slots();
  for (std::uint32_t first = 0; first < owners.size();) {
    std::uint32_t next = first + 1;
    while (next < owners.size() && owners[next] == owners[first]) ++next;
    if (owners[first] != 0) {
      owned[std::string(topology.owner_of_slot(first))].push_back({first, next - 1});
    }
    first = next;
  }
  return owned;
}

// The owners come from the topology, which redirects correct; the rest comes from the servers' map.
std::vector<ClusterServer> servers_of(const cluster::Topology& topology,
                                      const protocol::ServerMap& map) {
  std::vector<ClusterServer> servers = map.listing();
  auto owned = slots_of(topology);
  for (ClusterServer& server : servers) {
    const auto found = owned.find(server.node);
    if (found == owned.end()) continue;
    server.slots = std::move(found->second);
    server.replica = false;
    server.primary.clear();
    owned.erase(found);
  }
  for (auto& [node, slots] : owned) {  // known only from a redirect
    ClusterServer server;
    server.node = node;
    server.slots = std::move(slots);
    servers.push_back(std::move(server));
  }
  const auto place = [](const ClusterServer& server) {
    const std::uint32_t first = server.slots.empty() ? ~std::uint32_t{0} : server.slots[0].first;
    return std::tuple(server.replica, first, std::string_view(server.node));
  };
  std::ranges::sort(servers, {}, place);
  return servers;
}

// Waits for the map by sending a request that needs an owner.
class ServerList final : private socket::RequestSink {
 public:
  using Out = Result<std::vector<ClusterServer>>;

  ServerList(WorkEnd& end, runtime::Context& context, const Admission& admission)
      : end_(end), context_(context), started_(admission.started) {
    scout_.operation.verb = protocol::Verb::probe;
    scout_.operation.deadline = admission.deadline;
    scout_.route = "any";
    scout_.counted = false;
    scout_.sink = this;
  }

  void start(Now now) {
    if (!context_.path().map()->known()) return context_.cluster().start(scout_, now);
    give();
  }
  void cancel(Now now) { context_.cluster().cancel(scout_, now); }
  Out take() { return std::move(*out_); }

 private:
  void on_done(socket::Request&, const socket::Completion& completion) override {
    if (context_.path().map()->known()) return give();
    out_.emplace(Failure(runtime::make_error(completion, started_)));
    end_.ended();
  }
  void give() {
    const protocol::ServerMap& map = context_.path().map()->map();
    std::vector<ClusterServer> servers = servers_of(context_.cluster().topology(), map);
    if (map.known_servers() == nullptr || map.known_servers()->empty()) note_roles(servers);
    out_.emplace(std::move(servers));
    end_.ended();
  }

  // Outside a cluster only the server itself knows whether it copies another one.
  void note_roles(std::vector<ClusterServer>& servers) {
    for (ClusterServer& server : servers) {
      const cluster::Member* const member = context_.cluster().topology().find(server.node);
      if (member == nullptr) continue;
      server.replica = context_.cluster().node(member->index()).stats().role == ServerRole::replica;
    }
  }

  WorkEnd& end_;
  runtime::Context& context_;
  const Deadline started_;
  cluster::Request scout_;
  std::optional<Out> out_;
};

}  // namespace

Result<std::vector<ClusterServer>> cluster_servers(runtime::Context& context,
                                                   const Timeout& timeout, Stop stop) {
  std::optional<Error> wrong;
  if (!context.path().follows_map()) {
    wrong = runtime::local_error(
        Outcome::unsupported, Reason::bad_argument,
        "the configuration of this cluster, not its servers, decides which node owns a key");
  }
  const auto admitted = admit(context, Form::blocking, timeout, stop, std::move(wrong));
  if (!admitted) return Failure(admitted.error());
  return Blocking<ServerList>(context.lane(), {}, context, *admitted).wait(stop);
}

}  // namespace sheaf::client::calls
