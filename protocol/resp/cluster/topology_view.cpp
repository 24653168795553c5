// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/cluster/topology_view.h"

#include <algorithm>
#include <bitset>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "protocol/resp/wire/hash_slot.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::size_t max_nodes = 16 * 1024;
constexpr std::size_t max_id = 64;     // every known server uses 40
constexpr std::size_t max_host = 255;  // the limit of a DNS name

// What is wrong; nothing if all is well.
using Problem = std::optional<std::string>;

Problem wrong(std::string_view what, std::string_view text) {
  return std::string(what) + ": " + printable(text);
}

bool is_word(std::string_view text, std::size_t longest) noexcept {
  return text.size() <= longest &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

template <class Number>
std::optional<Number> to_number(std::optional<std::int64_t> number,
                                std::int64_t bound = std::int64_t{1} << 16) noexcept {
  if (!number || *number < 0 || *number >= bound) return std::nullopt;
  return static_cast<Number>(*number);
}

// True for the texts that mean "no host", that is, the host that answered.
bool is_no_host(std::string_view host) noexcept { return host.empty() || host == "?"; }

class Builder {
 public:
  explicit Builder(const AnsweringNode& from) noexcept : from_(from) {}

  const AnsweringNode& from() const noexcept { return from_; }

  // Adds a node, or finds the one with its id; fills in `index`.
  Problem add(TopologyNode node, std::uint32_t& index) {
    if (node.id.empty() || !is_word(node.id, max_id)) return wrong("an invalid node id", node.id);
    if (!is_word(node.host, max_host)) return wrong("an invalid host", node.host);
    if (!is_word(node.hostname, max_host)) return wrong("an invalid host name", node.hostname);
    if (node.host.empty()) node.port = 0;
    if (!from_.id.empty() && node.id == from_.id) node.answering = true;
    const auto [found, is_new] =
        by_id_.try_emplace(node.id, static_cast<std::uint32_t>(view_.nodes.size()));
    index = found->second;
    if (!is_new) return std::nullopt;
    if (view_.nodes.size() == max_nodes) return "more nodes than slots";
    view_.nodes.push_back(std::move(node));
    return std::nullopt;
  }
  bool has(std::string_view id) const { return by_id_.contains(std::string(id)); }

  // Slots that are already listed stay with their node.
  Problem claim(std::uint32_t node, std::optional<std::uint16_t> first,
                std::optional<std::uint16_t> last) {
    if (!first || !last || *first > *last || *last >= slot_count)
      return "an invalid range of slots";
    for (std::uint32_t slot = *first; slot <= *last; ++slot) {
      if (taken_.test(slot)) continue;
      taken_.set(slot);
      const auto here = static_cast<std::uint16_t>(slot);
      const bool goes_on = !view_.claims.empty() && view_.claims.back().node == node &&
                           view_.claims.back().last + 1 == here;
      if (goes_on) {
        view_.claims.back().last = here;
      } else {
        view_.claims.push_back({node, here, here});
      }
    }
    return std::nullopt;
  }

  TopologyView& view() noexcept { return view_; }

 private:
  const AnsweringNode& from_;
  TopologyView view_;
  std::unordered_map<std::string, std::uint32_t> by_id_;
  std::bitset<slot_count> taken_;
};

// ---- CLUSTER NODES

// IP:PORT[@BUSPORT][,HOSTNAME[,NAME=VALUE...]]. The last colon separates, as IPv6 has no brackets.
Problem read_address(std::string_view text, const AnsweringNode& from, TopologyNode& node) {
  const std::string_view all = text;
  std::string_view address = take_until(text, ',');
  address = take_until(address, '@');
  const std::string_view hostname = take_until(text, ',');
  const std::size_t colon = address.rfind(':');
  if (colon == address.npos) return wrong("an address without a port", all);
  const auto port = to_number<std::uint16_t>(parse_number(address.substr(colon + 1)));
  if (!port) return wrong("an invalid port", all);
  const std::string_view ip = address.substr(0, colon);
  node.port = *port;
  // A server that has not met another one yet does not know its own address.
  node.host = is_no_host(ip) && node.answering ? from.host : is_no_host(ip) ? "" : ip;
  if (!is_no_host(hostname) && !hostname.contains('=')) node.hostname = hostname;
  return std::nullopt;
}

struct Flags {
  bool myself = false;
  bool handshake = false;
  std::optional<Role> role;
};

Flags read_flags(std::string_view text) noexcept {
  Flags flags;
  while (!text.empty()) {
    const std::string_view flag = take_until(text, ',');
    if (flag == "myself") flags.myself = true;
    if (flag == "handshake") flags.handshake = true;
    if (flag == "master" || flag == "primary") flags.role = Role::primary;
    if (flag == "slave" || flag == "replica") flags.role = Role::replica;
  }
  return flags;
}

// [SLOT->-ID] for a slot moving to another node, [SLOT-<-ID] for one moving from it.
Problem read_migration(std::string_view text, std::uint32_t node, TopologyView& view) {
  constexpr std::size_t arrow = 3;
  const std::string_view all = text;
  const bool closed = text.ends_with(']');
  text = text.substr(1, text.size() - (closed ? 2 : 1));
  const std::size_t at = text.find('-');
  if (!closed || at == text.npos) return wrong("an invalid migration", all);
  const auto slot = to_number<std::uint16_t>(parse_number(text.substr(0, at)), slot_count);
  const std::string_view direction = text.substr(at, arrow);
  const std::string_view peer = text.substr(std::min(at + arrow, text.size()));
  if (!slot || (direction != "->-" && direction != "-<-") || peer.empty() ||
      !is_word(peer, max_id)) {
    return wrong("an invalid migration", all);
  }
  view.migrations.push_back({node, *slot, direction == "-<-", std::string(peer)});
  return std::nullopt;
}

Problem read_slots(std::string_view text, std::uint32_t node, Builder& builder) {
  while (!text.empty()) {
    std::string_view word = take_until(text, ' ');
    if (word.empty()) continue;
    Problem problem;
    if (word.front() == '[') {
      if (builder.view().migrations.size() == slot_count) return "more migrations than slots";
      problem = read_migration(word, node, builder.view());
    } else {
      const std::string_view all = word;
      const std::string_view first = take_until(word, '-');
      const bool single = first.size() == all.size();
      const auto number = to_number<std::uint16_t>(parse_number(first));
      problem = builder.claim(node, number,
                              single ? number : to_number<std::uint16_t>(parse_number(word)));
      if (problem) return wrong(*problem, all);
    }
    if (problem) return problem;
  }
  return std::nullopt;
}

// ID ADDRESS FLAGS PRIMARY PING PONG EPOCH LINK [SLOTS...]
Problem read_node_line(std::string_view line, Builder& builder) {
  TopologyNode node;
  node.id = take_until(line, ' ');
  const std::string_view address = take_until(line, ' ');
  const Flags flags = read_flags(take_until(line, ' '));
  const std::string_view primary = take_until(line, ' ');
  take_until(line, ' ');  // ping
  take_until(line, ' ');  // pong: Garnet counts ticks from the year 1
  const auto epoch = parse_decimal(take_until(line, ' '));
  const std::string_view link = take_until(line, ' ');
  if (link.empty() || !epoch) return wrong("a line that is cut short", node.id);
  if (flags.handshake || !flags.role) return std::nullopt;  // not in the cluster yet
  if (builder.has(node.id)) return wrong("a node that is listed twice", node.id);
  node.role = *flags.role;
  node.epoch = *epoch;
  node.answering = flags.myself;
  if (primary != "-") node.primary = primary;
  if (!is_word(node.primary, max_id)) return wrong("an invalid primary", node.primary);
  if (auto problem = read_address(address, builder.from(), node)) return problem;
  std::uint32_t index = 0;
  if (auto problem = builder.add(std::move(node), index)) return problem;
  return read_slots(line, index, builder);
}

// ---- shared by SHARDS and SLOTS

// The text of a value; empty if it is null or missing.
std::string_view text_of(const std::optional<Value>& value) noexcept {
  return value && value->is_text() ? value->text() : std::string_view{};
}

// The host to connect to. No endpoint means the host that answered. "?" means that the server has
// no name, so its address takes precedence.
std::string_view host_of(std::string_view endpoint, std::string_view ip,
                         const AnsweringNode& from) noexcept {
  if (endpoint == "unassigned") return {};
  if (endpoint == "?" && !is_no_host(ip)) return ip;
  return is_no_host(endpoint) ? from.host : endpoint;
}

// ---- CLUSTER SHARDS

Problem read_shard_node(const Value& fields, Builder& builder, TopologyNode& node) {
  const auto role = fields.find("role");
  const auto endpoint = fields.find("endpoint");
  const std::string_view ip = text_of(fields.find("ip"));
  const std::string_view hostname = text_of(fields.find("hostname"));
  node.id = text_of(fields.find("id"));
  const std::string_view role_text = text_of(role);
  if (role_text != "master" && role_text != "primary" && role_text != "slave" &&
      role_text != "replica") {
    return wrong("an invalid role", role_text);
  }
  node.role = role_text == "master" || role_text == "primary" ? Role::primary : Role::replica;
  node.host = host_of(endpoint ? text_of(endpoint) : "?", ip, builder.from());
  if (!is_no_host(hostname)) node.hostname = hostname;
  auto port = fields.find("port");
  if (const auto tls_port = fields.find("tls-port"); tls_port && builder.from().tls) {
    port = tls_port;
  }
  if (!port) return std::nullopt;  // it has no port of the kind that we want
  const auto number = to_number<std::uint16_t>(port->number());
  if (!number) return wrong("an invalid port of node", node.id);
  node.port = *number;
  return std::nullopt;
}

Problem read_shard(const Value& shard, Builder& builder) {
  const auto slots = shard.find("slots");
  const auto nodes = shard.find("nodes");
  if (!slots || !slots->is_aggregate() || !nodes || !nodes->is_aggregate()) {
    return "a shard without slots or nodes";
  }
  if (slots->size() % 2 != 0) return "an invalid range of slots";
  std::vector<TopologyNode> read;
  for (const Value fields : *nodes) {
    if (read.size() == max_nodes) return "more nodes than slots";
    if (auto problem = read_shard_node(fields, builder, read.emplace_back())) return problem;
  }
  // Nothing shows which of the two is gone and which has the slots.
  if (std::ranges::count(read, Role::primary, &TopologyNode::role) > 1) {
    return "two primaries in one shard";
  }
  const auto primary = std::ranges::find(read, Role::primary, &TopologyNode::role);
  const std::string primary_id = primary == read.end() ? std::string() : primary->id;
  for (TopologyNode& node : read) {
    if (node.role == Role::replica) node.primary = primary_id;
    const bool owner = !primary_id.empty() && node.id == primary_id;
    std::uint32_t index = 0;
    if (auto problem = builder.add(std::move(node), index)) return problem;
    if (!owner) continue;
    for (auto it = slots->begin(); it != slots->end(); ++it) {
      const auto first = to_number<std::uint16_t>((*it).number());
      ++it;
      if (auto problem = builder.claim(index, first, to_number<std::uint16_t>((*it).number()))) {
        return problem;
      }
    }
  }
  return std::nullopt;
}

// ---- CLUSTER SLOTS

// ENDPOINT PORT [ID [METADATA]]
Problem read_slot_node(const Value& fields, Builder& builder, TopologyNode& node) {
  const auto endpoint = fields.at(0);
  const auto port = fields.at(1);
  const auto id = fields.at(2);
  const auto metadata = fields.at(3).value_or(Value());
  if (!port || !(endpoint->is_text() || endpoint->is_null())) return "an invalid node of a slot";
  const auto number = to_number<std::uint16_t>(port->number());
  if (!number) return "an invalid port of a node";
  node.port = *number;
  node.host = host_of(text_of(endpoint), text_of(metadata.find("ip")), builder.from());
  const std::string_view hostname = text_of(metadata.find("hostname"));
  if (!is_no_host(hostname)) node.hostname = hostname;
  // Before Redis 4 there were no ids.
  node.id = id ? std::string(text_of(id)) : join_host_port(node.host, node.port);
  return std::nullopt;
}

// FIRST LAST PRIMARY [REPLICA...]
Problem read_slot_range(const Value& range, Builder& builder) {
  if (range.size() < 2) return "an invalid range of slots";
  auto it = range.begin();
  const auto first = to_number<std::uint16_t>((*it++).number());
  const auto last = to_number<std::uint16_t>((*it++).number());
  std::string primary;
  for (bool is_first = true; it != range.end(); ++it, is_first = false) {
    TopologyNode node;
    if (auto problem = read_slot_node(*it, builder, node)) return problem;
    node.role = is_first ? Role::primary : Role::replica;
    if (is_first) primary = node.id;
    if (!is_first) node.primary = primary;
    std::uint32_t index = 0;
    if (auto problem = builder.add(std::move(node), index)) return problem;
    if (!is_first) continue;
    if (auto problem = builder.claim(index, first, last)) return problem;
  }
  return std::nullopt;
}

ParsedView finish(Builder& builder, const Problem& problem, std::string_view command) {
  if (!problem) return std::move(builder.view());
  return std::unexpected("the reply to " + std::string(command) + " has " + *problem);
}

}  // namespace

ParsedView parse_cluster_nodes(const Value& reply, const AnsweringNode& from) {
  Builder builder(from);
  Problem problem;
  bool answered = false;
  if (!reply.is_text()) problem = "no text";
  std::string_view text = reply.text();
  while (!text.empty() && !problem) {
    std::string_view line = take_until(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) problem = read_node_line(line, builder);
  }
  TopologyView& view = builder.view();
  view.has_epochs = true;
  for (const TopologyNode& node : view.nodes) {
    if (node.answering && answered && !problem) problem = "two nodes that call themselves myself";
    answered = answered || node.answering;
  }
  if (view.nodes.empty() && !problem) problem = "no node";
  return finish(builder, problem, "CLUSTER NODES");
}

ParsedView parse_cluster_shards(const Value& reply, const AnsweringNode& from) {
  Builder builder(from);
  Problem problem;
  if (!reply.is_aggregate()) problem = "no array";
  for (const Value shard : reply) {
    if (!problem) problem = read_shard(shard, builder);
  }
  return finish(builder, problem, "CLUSTER SHARDS");
}

ParsedView parse_cluster_slots(const Value& reply, const AnsweringNode& from) {
  Builder builder(from);
  Problem problem;
  if (!reply.is_aggregate()) problem = "no array";
  for (const Value range : reply) {
    if (!problem) problem = read_slot_range(range, builder);
  }
  return finish(builder, problem, "CLUSTER SLOTS");
}

// An empty text is not enough: a server that has met no other does not know its own address.
bool names_no_hosts(const Value& reply) noexcept {
  if (!reply.is_aggregate() || reply.size() == 0) return false;
  for (const Value range : reply) {
    const auto primary = range.at(2);
    const auto endpoint = primary ? primary->at(0) : std::nullopt;
    if (!endpoint || !endpoint->is_null()) return false;
  }
  return true;
}

}  // namespace sheaf::protocol::resp
