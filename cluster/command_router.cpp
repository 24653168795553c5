#include "cluster/command_router.h"

#include <algorithm>
#include <utility>

#include "base/reason_words.h"
#include "base/text.h"
#include "node/node_records.h"
#include "protocol/refusals.h"

namespace sheaf::cluster {
namespace {

// The first attempt asks the owner of some slot, and so waits until the members are known.
constexpr unsigned most_attempts = 3;
constexpr std::size_t longest_quote = 60;  // of a key, in an error
constexpr std::size_t most_named = 8;      // nodes, in an error

protocol::LocalError closing() {
  return {Outcome::shutdown, Reason::closed, "the client is closing"};
}

std::string quoted(std::string_view key) { return "\"" + printable(key, longest_quote) + "\""; }

}  // namespace

CommandRouter::CommandRouter(const Parts& parts, std::unique_ptr<protocol::ServerCommands> commands,
                             std::chrono::nanoseconds patience)
    : parts_(parts),
      commands_(std::move(commands)),
      patience_(patience),
      timer_(parts.loop, *this) {}

// ---- commands

void CommandRouter::start(CommandRequest& request, Now now) {
  request.started_at = now.mono;
  request.only_reads_ = false;
  const auto words = request.operation.words;
  if (const auto refused = commands_->refusal(words)) return end(request, *refused, now);
  if (!must_wait(request)) return route(request, now);
  request.arrival_ = ++arrivals_;
  waiting_.push(request, request.operation.deadline);
  timer_.need(waiting_.next());
  if (attempts_ > 0) return;
  attempts_ = 1;
  knows_members() ? ask_any(now) : ask_owner(words[words.size() > 1 ? 1 : 0], now);
}

void CommandRouter::cancel(CommandRequest& request, Now now) {
  if (!waiting_.contains(request)) return parts_.cluster.cancel(request, now);
  waiting_.remove(request);
  end(request, {Outcome::not_sent, Reason::cancelled, {}}, now);
}

void CommandRouter::on_timer(Now now) {
  timer_.clear();
  while (CommandRequest* const late = waiting_.pop_due(now.mono)) {
    std::string text = "the servers have not reported their commands yet";
    const std::string_view why = problem_.empty() && !knows_members() ? parts_.map->problem().text
                                                                      : std::string_view(problem_);
    if (!why.empty()) text.append("; ").append(why);
    end(*late, {Outcome::not_sent, Reason::timed_out, std::move(text)}, now);
  }
  timer_.need(waiting_.next());
}

bool CommandRouter::must_wait(const CommandRequest& request) const {
  const bool needs_table = !request.keys && request.only_node.empty();
  if (request.in_line && !waiting_.empty()) return true;
  return !knows_members() || (needs_table && !commands_->known());
}

// ---- the table

void CommandRouter::ask_owner(std::string_view route, Now now) {
  route_ = route;
  question_.route = route_;
  question_.operation = {};
  question_.operation.deadline = now.mono + patience_;
  ask(now);
}

void CommandRouter::ask_any(Now now) {
  question_.route = {};
  question_.operation = {};
  question_.operation.deadline = now.mono + patience_;
  ask(now);
}

void CommandRouter::ask(Now now) {
  question_.operation.verb = protocol::Verb::command;
  question_.operation.words = commands_->question();
  question_.sink = this;
  question_.counted = false;
  if (!question_.route.empty()) return parts_.cluster.start(question_, now);
  parts_.cluster.start_on(any_node(), question_, now);
}

void CommandRouter::on_done(socket::Request&, const socket::Completion& completion) {
  const Now now = completion.now;
  if (completion.outcome == Outcome::shutdown && !completion.answered) {
    while (CommandRequest* const next = waiting_.front()) {
      waiting_.remove(*next);
      end(*next, closing(), now);
    }
    attempts_ = 0;
    return;
  }
  if (completion.answered) {
    const auto taken = commands_->on_reply(completion.reply);
    problem_ = taken ? std::string() : taken.error();
    unwilling_ = !taken;
    reason_ = Reason::other;
  } else {
    unwilling_ = completion.outcome == Outcome::refused;
    reason_ = completion.reason;
    problem_ = completion.text.empty() ? reason_words(completion.reason, {}) : completion.text;
  }
  if (!problem_.empty() && !completion.node.empty()) {
    problem_ = std::string(completion.node) + ": " + problem_;
  }
  if (!problem_.empty() && !waiting_.empty() && attempts_ < most_attempts) {
    ++attempts_;
    return ask_any(now);
  }
  attempts_ = 0;
  settle(now);
}

// Routes the waiting commands, in the order of their arrival, with what is known by now. Commands
// that start again meanwhile are not among them.
void CommandRouter::settle(Now now) {
  std::vector<CommandRequest*> ready;
  while (CommandRequest* const next = waiting_.front()) {
    waiting_.remove(*next);
    ready.push_back(next);
  }
  std::ranges::sort(ready, {}, &CommandRequest::arrival_);
  for (CommandRequest* const request : ready) route(*request, now);
}

// ---- routing

void CommandRouter::route(CommandRequest& request, Now now) {
  if (request.only_node.empty()) return route_by_keys(request, now);
  const Member* const member = parts_.cluster.topology().find(request.only_node);
  if (member == nullptr) {
    return end(request, protocol::invalid(stranger(request.only_node)), now);
  }
  parts_.cluster.start_on(member->index(), request, now);
}

std::optional<CommandRouter::Home> CommandRouter::home_of(
    protocol::CommandWords words, std::optional<std::span<const std::string_view>> keys) {
  if (!knows_members() || !waiting_.empty() || commands_->refusal(words)) return std::nullopt;
  Home home;
  if (!keys) {
    if (!commands_->known() || commands_->find(words, use_)) return std::nullopt;
    keys = use_.keys;
    home.only_reads = use_.only_reads;
  }
  if (keys->size() != 1 || keys->front().empty()) return std::nullopt;
  home.key = keys->front();
  const Topology& topology = parts_.cluster.topology();
  home.node = topology.owner(home.key);
  if (parts_.cluster.scatters(topology.epoch(), home.node)) return std::nullopt;
  return home;
}

// "h:1 is not a node of the cluster; its nodes are a:1, b:1, ..."
std::string CommandRouter::stranger(std::string_view node) const {
  std::string text = printable(node, longest_quote) + " is not a node of the cluster";
  std::size_t named = 0;
  for (const Member& member : parts_.cluster.topology().members()) {
    text += named == 0 ? "; its nodes are " : ", ";
    if (named++ == most_named) return text + "...";
    text += member.identity();
  }
  return text;
}

// The nodes that own keys, if the command concerns each of them.
CommandRouter::Concerned CommandRouter::concerned(const CommandRequest& request) const {
  if (request.keys) return {};
  std::string name = commands_->of_each_node(request.operation.words);
  if (name.empty()) return {};
  return {std::move(name), parts_.cluster.topology().owning_nodes()};
}

void CommandRouter::route_by_keys(CommandRequest& request, Now now) {
  const Concerned all = concerned(request);
  if (all.nodes.size() > 1) {
    return end(request,
               protocol::invalid(
                   all.command + " concerns each of the " + std::to_string(all.nodes.size()) +
                   " nodes: send it to one (--node HOST:PORT, Command::at_node) or to all "
                   "(--all-nodes, Client::execute_on_all)"),
               now);
  }
  if (request.keys) {
    use_.only_reads = false;
    use_.keys.assign(request.keys->begin(), request.keys->end());
  } else if (!commands_->known()) {
    std::string text =
        unwilling_
            ? "the servers do not report their commands, so the command's keys must be named: "
            : "no server could be asked for its commands: ";
    return end(request, {Outcome::not_sent, reason_, text + problem_}, now);
  } else if (const auto error = commands_->find(request.operation.words, use_)) {
    return end(request, *error, now);
  }
  request.only_reads_ = use_.only_reads;
  if (use_.keys.empty()) {
    const unsigned node = all.nodes.empty() ? any_node() : all.nodes.front();
    return parts_.cluster.start_on(node, request, now);
  }
  if (const auto error = scattered(use_.keys)) return end(request, *error, now);
  request.operation.key = use_.keys.front();
  // If there are no slots, two keys may have two stand-ins.
  request.at_owner = use_.keys.size() > 1 && !parts_.cluster.topology().assigned();
  parts_.cluster.start(request, now);
}

// Why the keys do not belong to one node. If the owner is not known yet, its server decides.
std::optional<protocol::LocalError> CommandRouter::scattered(
    std::span<const std::string_view> keys) const {
  const Topology& topology = parts_.cluster.topology();
  if (std::ranges::any_of(keys, &std::string_view::empty)) {
    return protocol::invalid("a key of the command is empty; it needs at least 1 byte");
  }
  if (topology.sole() != nobody || keys.size() == 1) return std::nullopt;
  const Location first = topology.locate(keys.front());
  if (first.node == nobody) return std::nullopt;
  const bool slots = topology.assigned();
  for (const std::string_view key : keys) {
    const Location found = topology.locate(key);
    if (slots ? found.point == first.point : found.node == first.node) continue;
    std::string text =
        "the keys " + quoted(keys.front()) + " and " + quoted(key) + " of the command are ";
    if (slots) {
      text += "in the slots " + std::to_string(first.point) + " and " +
              std::to_string(found.point) +
              "; it needs all in one slot, for example with the same {tag} in each";
    } else {
      text += "on two nodes; it needs all on one node, for example with the same {tag} in each";
    }
    return protocol::invalid(std::move(text));
  }
  return std::nullopt;
}

// The first member that is up; otherwise the first usable one, or the first of all.
unsigned CommandRouter::any_node() const {
  const auto members = parts_.cluster.topology().members();
  unsigned best = members.front().index();
  for (const Member& member : members) {
    if (member.is_replica()) continue;
    const node::ClientNode& node = parts_.cluster.node(member.index());
    if (node.stats().health == NodeHealth::up) return member.index();
    if (node.usable() && !parts_.cluster.node(best).usable()) best = member.index();
  }
  return best;
}

void CommandRouter::end(CommandRequest& request, const protocol::LocalError& error, Now now) {
  socket::Completion completion;
  completion.outcome = error.outcome;
  completion.reason = error.reason;
  completion.text = error.text;
  completion.now = now;
  if (parts_.events.listening() && error.reason != Reason::cancelled) {
    parts_.events.record(node::record_of(request, completion, parts_.events));
  }
  request.sink->on_done(request, completion);
}

}  // namespace sheaf::cluster
