#include "cluster/map_fetcher.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "cluster/config/config_check.h"
#include "cluster/placement/assigned_slots.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;

// The time for one answer while no map is known, when every call waits for the map; then the next
// server is asked. It may be too short to connect and log in, so a server that is passed over gets
// a second turn.
constexpr std::chrono::milliseconds first_patience = 300ms;

// How many more servers are asked in a round because one does not name the owner of a slot that is
// wanted: a cluster may really lack one, and must not be asked too much.
constexpr unsigned most_incomplete = 3;

constexpr std::string_view needs_plain_password =
    "the password would reach it unencrypted, which needs allow_plain_password=1";

// True if the server will refuse the next question, too: a password is wrong, or a right is
// missing.
bool is_lasting(Reason reason) noexcept {
  return reason == Reason::authentication || reason == Reason::not_authorized;
}

std::unique_ptr<const ClientNodeLocator> slots_of(std::span<const std::uint16_t> owners,
                                                  const protocol::ServerMap& map) {
  return std::make_unique<AssignedSlots>(owners, map.slot_of());
}

// Adds servers that are not in the list yet. They own nothing.
void add(std::vector<NodeConfig>& servers, std::span<const NodeConfig> others) {
  for (const NodeConfig& other : others) {
    const bool there =
        std::ranges::find(servers, other.identity(), &NodeConfig::identity) != servers.end();
    if (there || servers.size() >= AssignedSlots::slot_count) continue;
    servers.push_back(other);
  }
}

}  // namespace

MapFetcher::MapFetcher(const Parts& parts, std::unique_ptr<protocol::ServerMap> map, MapTerms terms,
                       const Seed& seed)
    : parts_(parts),
      map_(std::move(map)),
      terms_(std::move(terms)),
      random_(seed),
      problem_("no server has answered yet") {}

MapFetcher::~MapFetcher() { parts_.loop.forget(*this); }

std::shared_ptr<const Topology> MapFetcher::first_topology(std::span<const NodeConfig> seeds,
                                                           const protocol::ServerMap& map,
                                                           NodeEntries& table) {
  return Topology::make({seeds}, slots_of(map.owners(), map), table, 1);
}

// ---- a round

void MapFetcher::fetch_map(std::string_view first, Now now) {
  to_ask_.clear();
  passed_over_.clear();
  had_turn_.clear();
  second_turn_ = false;
  incomplete_ = 0;
  heard_ = Heard::nothing;
  for (const Member& member : parts_.cluster.topology().members()) {
    to_ask_.push_back(member.identity());
  }
  for (std::size_t i = to_ask_.size(); i > 1; --i) {
    std::swap(to_ask_[i - 1], to_ask_[random_.below(i)]);
  }
  const auto preferred = std::ranges::find(to_ask_, first);
  if (preferred != to_ask_.end()) std::swap(*preferred, to_ask_.back());
  ask_next(now);
}

// Members may leave between two questions.
void MapFetcher::ask_next(Now now) {
  const Member* member = nullptr;
  while (member == nullptr && !to_ask_.empty()) {
    member = parts_.cluster.topology().find(to_ask_.back());
    to_ask_.pop_back();
  }
  if (member == nullptr && !passed_over_.empty()) {
    to_ask_.swap(passed_over_);
    std::ranges::reverse(to_ask_);
    second_turn_ = true;
    return ask_next(now);
  }
  if (member == nullptr) return finds_more(now) ? ask_next(now) : end_round(false, now);
  member_ = member->identity();
  had_turn_.push_back(member_);
  first_question_ = question();
  ask(*member, now);
}

void MapFetcher::ask(const Member& member, Now now) {
  request_.operation = {};
  request_.operation.verb = protocol::Verb::command;
  request_.operation.words = map_->question();
  request_.operation.deadline = now.mono + (hurries() ? first_patience : terms_.patience);
  request_.sink = this;
  request_.counted = false;
  phase_ = Phase::asking;
  ++asked_;
  parts_.cluster.start_on(member.index(), request_, now);
}

// The next member is asked soon.
bool MapFetcher::hurries() const {
  return !map_->known() && !second_turn_ && !(to_ask_.empty() && passed_over_.empty());
}

std::string MapFetcher::question() const {
  std::string words;
  for (const std::string_view word : map_->question()) words.append(word).append(1, ' ');
  return words;
}

// The topology must not change within a completion.
void MapFetcher::on_done(socket::Request&, const socket::Completion& completion) {
  phase_ = read(completion);
  if (phase_ != Phase::idle) parts_.loop.defer(*this);
}

MapFetcher::Phase MapFetcher::read(const socket::Completion& completion) {
  protocol::Reply reply = completion.reply;
  if (!completion.answered) {
    if (hurries() && completion.reason == Reason::timed_out) passed_over_.push_back(member_);
    const std::string text(completion.text.empty() ? to_string(completion.reason)
                                                   : completion.text);
    if (completion.outcome != Outcome::refused) {
      fail(completion, completion.reason, text);
      return completion.outcome == Outcome::shutdown ? Phase::idle : Phase::next;
    }
    reply = {};
    reply.status = protocol::Status::refused;
    reply.reason = completion.reason;
    reply.text = completion.text;
  }
  const Member* const member = parts_.cluster.topology().find(completion.node);
  const std::string host = member != nullptr ? member->host : std::string();
  const std::string asked = question();
  const auto taken = map_->on_reply(reply, {.host = host, .asked = asked_});
  if (taken) return *taken == protocol::ServerMap::Taken::whole ? Phase::answered : Phase::again;
  fail(completion, reply.reason, taken.error().text, taken.error().lasting);
  const std::string next = question();
  return next != asked && next != first_question_ ? Phase::again : Phase::next;
}

void MapFetcher::fail(const socket::Completion& completion, Reason reason, const std::string& text,
                      bool lasting) {
  reason_ = reason == Reason::other && !lasting ? Reason::timed_out : reason;
  const bool refuses = lasting || is_lasting(reason) || completion.not_understood;
  heard_ = refuses && heard_ != Heard::others ? Heard::refusals : Heard::others;
  report(completion.node, text);
}

void MapFetcher::run_deferred(Now now) {
  const Member* member = nullptr;
  switch (phase_) {
    case Phase::idle:
    case Phase::asking:
      return;
    case Phase::answered:
      apply_map(now);
      if (!lacks_owner() || ++incomplete_ > most_incomplete) return end_round(true, now);
      heard_ = Heard::others;
      problem_.clear();
      return ask_next(now);
    case Phase::again:
      member = parts_.cluster.topology().find(member_);
      return member != nullptr ? ask(*member, now) : ask_next(now);
    case Phase::next:
      return ask_next(now);
  }
}

void MapFetcher::end_round(bool good, Now now) {
  phase_ = Phase::idle;
  lasting_ = !good && heard_ == Heard::refusals;
  if (good || incomplete_ > 0) problem_.clear();
  if (!good) widen(now);
  if (Redirects* const redirects = parts_.cluster.redirects()) redirects->on_map(good, now);
}

// After all members, in this round: true if more servers have become members.
bool MapFetcher::finds_more(Now now) {
  widen(now);
  for (const Member& member : parts_.cluster.topology().members()) {
    std::string identity = member.identity();
    if (std::ranges::find(had_turn_, identity) == had_turn_.end()) {
      to_ask_.push_back(std::move(identity));
    }
  }
  return !to_ask_.empty();
}

// True if a request waits for a slot whose owner the last answer did not name. Its server may be
// out of date, and others may know.
bool MapFetcher::lacks_owner() const {
  const Redirects* const redirects = parts_.cluster.redirects();
  return redirects != nullptr && redirects->wants_owner();
}

// The hosts of servers that own slots are those of members, so they are not searched here.
bool MapFetcher::names(std::string_view host) const {
  const std::vector<NodeConfig> others = map_->others();
  return trusts(host) && std::ranges::find(others, host, &NodeConfig::host) != others.end();
}

std::string_view MapFetcher::ban(std::string_view host) const {
  return trusts(host) ? std::string_view() : needs_plain_password;
}

void MapFetcher::report(std::string_view node, const std::string& text) {
  problem_.assign(node).append(": ").append(text);
  if (!parts_.events.listening()) return;
  LogRecord record;
  record.node = node;
  record.operation = "topology";
  record.text = "the slot map could not be fetched: " + text;
  parts_.events.record(std::move(record));
}

// ---- topologies

void MapFetcher::apply_map(Now now) {
  std::vector<std::uint16_t> owners = map_->owners();
  std::vector<NodeConfig> servers = trusted(map_->servers(), owners);
  if (servers.empty()) return;
  const std::vector<std::uint32_t> primaries = add_replicas(servers);
  if (is_new(servers, owners, primaries)) {
    const std::uint64_t epoch = parts_.cluster.topology().epoch() + 1;
    const NamedServers list{servers, primaries, member_};
    parts_.cluster.apply(Topology::make(list, slots_of(owners, *map_), parts_.table, epoch), now);
  }
  tell_listener();
}

// The known servers are copied, because the next map changes them.
void MapFetcher::tell_listener() {
  if (terms_.listener == nullptr) return;
  const auto known = map_->known_servers();
  terms_.listener->on_map(
      parts_.cluster.nodes().snapshot(),
      known != nullptr ? std::make_shared<const protocol::KnownServers>(*known) : nullptr);
}

// Adds the replicas that may receive this client's requests. Returns the position of each server's
// primary.
std::vector<std::uint32_t> MapFetcher::add_replicas(std::vector<NodeConfig>& servers) const {
  std::vector<std::uint32_t> primaries(servers.size(), nobody);
  if (!terms_.replicas) return primaries;
  const std::vector<NodeConfig> owners = map_->servers();
  std::unordered_map<std::string, std::uint32_t> positions;
  for (const NodeConfig& server : servers) {
    positions.emplace(server.identity(), static_cast<std::uint32_t>(positions.size()));
  }
  for (const protocol::ServerMap::Replica& replica : map_->replicas()) {
    const auto primary = positions.find(owners[replica.primary].identity());
    if (primary == positions.end() || !trusts(replica.server.host)) continue;
    if (servers.size() >= AssignedSlots::slot_count) break;
    servers.push_back(replica.server);
    primaries.push_back(primary->second);
  }
  return primaries;
}

void MapFetcher::widen(Now now) {
  const Topology& present = parts_.cluster.topology();
  std::vector<NodeConfig> more = terms_.seeds;
  std::vector<std::uint16_t> none;
  add(more, trusted(map_->others(), none));
  std::erase_if(
      more, [&](const NodeConfig& server) { return present.find(server.identity()) != nullptr; });
  if (more.empty()) return;
  parts_.cluster.apply(present.changed({more, {}, member_}, {}, parts_.table, present.epoch() + 1),
                       now);
  tell_listener();
}

bool MapFetcher::trusts(std::string_view host) const noexcept {
  return !terms_.loopback_only || is_loopback(host);
}

// Keeps the servers that may receive this client's requests. The slots of the others lose their
// owner.
std::vector<NodeConfig> MapFetcher::trusted(std::vector<NodeConfig> servers,
                                            std::vector<std::uint16_t>& owners) {
  if (!terms_.loopback_only) return servers;
  std::vector<std::uint16_t> places(servers.size(), protocol::ServerMap::unassigned);
  std::vector<NodeConfig> kept;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!trusts(servers[i].host)) {
      report(servers[i].identity(), std::string(needs_plain_password));
      continue;
    }
    places[i] = static_cast<std::uint16_t>(kept.size());
    kept.push_back(servers[i]);
  }
  for (std::uint16_t& owner : owners) {
    if (owner != protocol::ServerMap::unassigned) owner = places[owner];
  }
  return kept;
}

bool MapFetcher::is_new(std::span<const NodeConfig> servers, std::span<const std::uint16_t> owners,
                        std::span<const std::uint32_t> primaries) const {
  const Topology& present = parts_.cluster.topology();
  if (present.members().size() != servers.size()) return true;
  std::vector<std::uint16_t> places;  // in the present topology, by position
  for (const NodeConfig& server : servers) {
    const Member* const member = present.find(server.identity());
    if (member == nullptr) return true;
    places.push_back(static_cast<std::uint16_t>(member - present.members().data()));
  }
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const std::uint32_t primary = primaries[i] == nobody ? nobody : places[primaries[i]];
    if (present.members()[places[i]].primary != primary) return true;
  }
  const std::vector<std::uint16_t> slots = present.slots();
  for (std::size_t slot = 0; slot < owners.size(); ++slot) {
    const bool owned = owners[slot] != protocol::ServerMap::unassigned;
    if (slots[slot] != (owned ? places[owners[slot]] + 1 : 0)) return true;
  }
  return false;
}

}  // namespace sheaf::cluster
