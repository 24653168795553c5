#include "client/calls/node_calls.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "client/calls/admit.h"
#include "client/calls/node_round.h"
#include "client/calls/ways.h"
#include "client/calls/work.h"
#include "client/runtime/features.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::calls {
namespace {

// Asks every member, whatever is known of the others. The configuration's are asked after half of
// the time if the servers have not said which nodes are members.
class OfMembers {
 public:
  explicit OfMembers(protocol::Verb verb, std::string_view key = {}) : verb_(verb), key_(key) {}

  static std::optional<Error> refusal(const runtime::Context&) { return std::nullopt; }
  static Deadline scout_deadline(const Admission& admission, Now now) {
    return now.mono + (admission.deadline - now.mono) / 2;
  }
  static std::optional<Error> unknown(const socket::Completion&, Deadline) { return std::nullopt; }
  static std::vector<std::uint32_t> nodes(const cluster::Topology& topology) {
    std::vector<std::uint32_t> nodes;
    for (const cluster::Member& member : topology.members()) nodes.push_back(member.index());
    return nodes;
  }
  void describe(protocol::Operation& operation) const {
    operation.verb = verb_;
    operation.key = key_;
  }
  static void fail(const Error&) {}

 private:
  const protocol::Verb verb_;
  const std::string key_;
};

// Asks each node for its clock; if the endpoint has none, checks that the node answers.
class Reports : public OfMembers {
 public:
  using Out = std::vector<NodeReport>;
  using OfMembers::OfMembers;

  void expect(const cluster::Member& member) {
    NodeReport& report = reports_.emplace_back();
    report.stats.node = member.identity();
    report.stats.weight = member.weight;
  }
  void on_answer(std::size_t position, const runtime::Context&, const socket::Request& request,
                 const socket::Completion& completion, Deadline started) {
    NodeReport& report = reports_[position];
    if (!completion.answered) {
      report.error = runtime::make_error(completion, started);
      return;
    }
    const auto trip = completion.now.mono - request.submitted_at;
    report.round_trip = trip;
    if (!completion.reply.server_wall) return;
    // The answer was made about half a round trip ago.
    const auto then =
        completion.now.wall - std::chrono::duration_cast<std::chrono::milliseconds>(trip / 2);
    report.clock_difference = *completion.reply.server_wall - then;
  }
  Out take() { return std::move(reports_); }

 private:
  Out reports_;
};

// Asks each node for some text about itself.
class Texts : public OfMembers {
 public:
  using Out = std::vector<NodeText>;
  using OfMembers::OfMembers;

  void expect(const cluster::Member& member) {
    texts_.push_back({member.identity(), Result<std::string>()});
  }
  void on_answer(std::size_t position, const runtime::Context&, const socket::Request&,
                 const socket::Completion& completion, Deadline started) {
    Result<std::string>& text = texts_[position].text;
    if (completion.answered) {
      text = std::string(completion.reply.value);
    } else {
      text = Failure(runtime::make_error(completion, started));
    }
  }
  Out take() { return std::move(texts_); }

 private:
  Out texts_;
};

// Reports of nodes that were not asked, because the client has forked or is closing. The nodes are
// those of the configuration.
std::vector<NodeReport> unasked(const ClusterConfig& config, const Error& error) {
  std::vector<NodeReport> reports;
  for (const NodeConfig& node : config.nodes) {
    NodeReport report;
    report.stats.node = node.identity();
    report.stats.weight = node.weight;
    report.error = error;
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<NodeText> unsaid(const ClusterConfig& config, const Error& error) {
  std::vector<NodeText> texts;
  for (const NodeConfig& node : config.nodes) texts.push_back({node.identity(), Failure(error)});
  return texts;
}

// With one allocation.
std::string text_of(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string text;
  text.reserve(size);
  for (const std::string_view part : parts) text.append(part);
  return text;
}

// Adds the current counters. The topology may have changed meanwhile, and the client may be
// closing.
struct WithCounters {
  static constexpr bool blocks = true;

  std::vector<NodeReport> operator()(runtime::Context& context,
                                     std::vector<NodeReport> reports) const {
    const runtime::Context::Entry entering(context);
    if (context.refusal(true)) return reports;
    for (NodeStats& stats : context.stats()) {
      const auto same = [&](const NodeReport& report) { return report.stats.node == stats.node; };
      const auto report = std::ranges::find_if(reports, same);
      if (report != reports.end()) report->stats = std::move(stats);
    }
    return reports;
  }
};

template <class Way>
typename Way::Return texts_over(runtime::Context& context, protocol::Verb verb,
                                std::string_view key, const NodesOptions& options, Way way) {
  const auto admitted = admit(context, Way::form, options.timeout, options.stop, std::nullopt);
  if (!admitted) return way.give(context, unsaid(context.config(), admitted.error()));
  return way.template run<NodeRound<Texts>>(context, options.stop, AsItIs(), context, *admitted,
                                            verb, key);
}

template <class Way>
typename Way::Return reports_over(runtime::Context& context, const NodesOptions& options, Way way) {
  const auto admitted = admit(context, Way::form, options.timeout, options.stop, std::nullopt);
  if (!admitted) return way.give(context, unasked(context.config(), admitted.error()));
  const bool clocks = runtime::supports(context.config(), Feature::clock);
  return way.template run<NodeRound<Reports>>(
      context, options.stop, WithCounters(), context, *admitted,
      clocks ? protocol::Verb::clock : protocol::Verb::probe);
}

}  // namespace

std::vector<NodeText> ask_for_texts(runtime::Context& context, protocol::Verb verb,
                                    std::string_view key, const NodesOptions& options) {
  return texts_over(context, verb, key, options, Returned<std::vector<NodeText>>());
}

Call<std::vector<NodeText>> ask_for_texts_later(Origin origin, protocol::Verb verb,
                                                std::string_view key, const NodesOptions& options) {
  return prepare<std::vector<NodeText>, NodeRound<Texts>>(
      std::move(origin), options.stop,
      [verb, key = std::string(key), options = options](runtime::Context& context, Stop stop,
                                                        auto way) mutable {
        options.stop = stop;
        texts_over(context, verb, key, options, way);
      });
}

Result<Location> locate(const runtime::Context& context, std::string_view key) {
  if (auto error = check_key(key)) return Failure(std::move(*error));
  if (context.forked()) return Failure(*context.refusal(false));
  const auto topology = context.topology();
  const cluster::Location found = topology->locate(key);
  if (found.node == cluster::nobody) {
    return Failure(runtime::local_error(Outcome::not_sent, Reason::other,
                                        "no server owns slot " + std::to_string(found.point)));
  }
  Location location;
  location.node = topology->identity(found.node);
  location.slot = found.point;
  const RingProfile ring = context.config().ring;
  const bool tags = ring == RingProfile::none;
  location.routing_key = tags ? cluster::routing_key(key) : key;
  const bool tagged = location.routing_key.size() != key.size();
  if (cluster::without_points(ring)) {
    location.reason = "the key's hash leads to " + location.node;
    return location;
  }
  const bool slots = context.config().locator == LocatorKind::slots;
  location.reason =
      text_of({tagged ? "the tag in {} " : "the key ", "falls on ", slots ? "slot " : "ring point ",
               std::to_string(found.point), ", which ", location.node, " owns"});
  return location;
}

std::vector<NodeStats> node_stats(runtime::Context& context) {
  if (!context.refusal(true)) return context.stats();
  std::vector<NodeStats> stats;
  for (NodeReport& report : unasked(context.config(), {})) stats.push_back(std::move(report.stats));
  return stats;
}

Metrics metrics(runtime::Context& context, const std::function<void(Metrics&)>& more) {
  if (!context.refusal(true)) return context.metrics(more);
  Metrics none;
  for (NodeStats& stats : node_stats(context)) none.nodes.push_back({std::move(stats), {}});
  return none;
}

std::vector<NodeReport> check_nodes(runtime::Context& context, const NodesOptions& options) {
  return reports_over(context, options, Returned<std::vector<NodeReport>>());
}

Call<std::vector<NodeReport>> check_nodes_later(Origin origin, const NodesOptions& options) {
  return prepare<std::vector<NodeReport>, NodeRound<Reports>>(
      std::move(origin), options.stop,
      [options = options](runtime::Context& context, Stop stop, auto way) mutable {
        options.stop = stop;
        reports_over(context, options, way);
      });
}

}  // namespace sheaf::client::calls
