#include "client/calls/node_calls.h"

#include <memory>

#include "client/calls/admit.h"
#include "client/calls/work.h"
#include "client/runtime/features.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::calls {
namespace {

// The same question to every node, once, in parallel, as a Work. Answers is what becomes of them:
//   Answers(const ClusterConfig&), on_answer(const cluster::Request&, const socket::Completion&,
//   Deadline started), Out take()
template <class Answers>
class NodeRound final : private socket::RequestSink {
 public:
  using Out = typename Answers::Out;

  NodeRound(WorkEnd& end, runtime::Context& context, const protocol::Operation& operation,
            Deadline started)
      : end_(end),
        context_(context),
        started_(started),
        answers_(context.config()),
        count_(static_cast<unsigned>(context.config().nodes.size())),
        requests_(new cluster::Request[count_]) {
    for (unsigned i = 0; i < count_; ++i) {
      requests_[i].operation = operation;
      requests_[i].sink = this;
    }
  }

  void start(Now now) {
    left_ = count_;
    for (unsigned i = 0; i < count_; ++i) context_.cluster().start_on(i, requests_[i], now);
  }
  void cancel(Now now) {
    ++left_;  // not before the last has been cancelled
    for (unsigned i = 0; i < count_; ++i) context_.cluster().cancel(requests_[i], now);
    one_less();
  }
  Out take() { return answers_.take(); }

 private:
  void on_done(socket::Request& request, const socket::Completion& completion) override {
    answers_.on_answer(static_cast<cluster::Request&>(request), completion, started_);
    one_less();
  }
  void one_less() {
    if (--left_ == 0) end_.ended();
  }

  WorkEnd& end_;
  runtime::Context& context_;
  Deadline started_;
  Answers answers_;
  unsigned count_;
  unsigned left_ = 0;
  std::unique_ptr<cluster::Request[]> requests_;
};

// Asks each node for its clock; where the endpoint does not send one, whether it answers.
class Reports {
 public:
  using Out = std::vector<NodeReport>;
  explicit Reports(const ClusterConfig& config) : reports_(config.nodes.size()) {}

  void on_answer(const cluster::Request& request, const socket::Completion& completion,
                 Deadline started) {
    NodeReport& report = reports_[request.node()];
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

// For some text about itself.
class Texts {
 public:
  using Out = std::vector<NodeText>;
  explicit Texts(const ClusterConfig& config) {
    for (const NodeConfig& node : config.nodes) {
      texts_.push_back({node.identity(), Result<std::string>()});
    }
  }

  void on_answer(const cluster::Request& request, const socket::Completion& completion,
                 Deadline started) {
    Result<std::string>& text = texts_[request.node()].text;
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

// Asks an admitted question.
template <class Answers>
typename Answers::Out ask(runtime::Context& context, protocol::Operation operation,
                          const Admission& admission, Stop stop) {
  operation.deadline = admission.deadline;
  return Blocking<NodeRound<Answers>>(context.lane(), {}, context, operation, admission.started)
      .wait(stop);
}

// Reports of nodes that were not asked.
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

}  // namespace

std::vector<NodeText> ask_for_texts(runtime::Context& context, protocol::Verb verb,
                                    std::string_view key, const Timeout& timeout, Stop stop) {
  const auto admitted = admit(context, Form::blocking, timeout, stop, std::nullopt);
  if (!admitted) {
    std::vector<NodeText> texts;
    for (const NodeConfig& node : context.config().nodes) {
      texts.push_back({node.identity(), Failure(admitted.error())});
    }
    return texts;
  }
  protocol::Operation operation;
  operation.verb = verb;
  operation.key = key;
  return ask<Texts>(context, operation, *admitted, stop);
}

Result<Location> locate(const runtime::Context& context, std::string_view key) {
  if (auto error = check_key(key)) return Failure(std::move(*error));
  const cluster::Topology& topology = context.topology();
  const cluster::Location found = topology.locate(key);
  Location location;
  location.node = topology.identity(found.node);
  location.slot = found.point;
  const bool tags = context.config().ring == RingProfile::none;
  location.routing_key = tags ? cluster::routing_key(key) : key;
  const bool tagged = location.routing_key.size() != key.size();
  const bool slots = context.config().locator == LocatorKind::slots;
  location.reason = std::string(tagged ? "the tag in {} " : "the key ") + "falls on " +
                    (slots ? "slot " : "ring point ") + std::to_string(found.point) + ", which " +
                    location.node + " owns";
  return location;
}

std::vector<NodeStats> node_stats(runtime::Context& context) {
  if (!context.refusal(true)) return context.stats();
  std::vector<NodeStats> stats;
  for (NodeReport& report : unasked(context.config(), {})) stats.push_back(std::move(report.stats));
  return stats;
}

std::vector<NodeReport> check_nodes(runtime::Context& context, const Timeout& timeout, Stop stop) {
  const auto admitted = admit(context, Form::blocking, timeout, stop, std::nullopt);
  if (!admitted) return unasked(context.config(), admitted.error());
  const bool clocks = runtime::supports(context.config(), Feature::clock);
  protocol::Operation operation;
  operation.verb = clocks ? protocol::Verb::clock : protocol::Verb::probe;
  auto reports = ask<Reports>(context, operation, *admitted, stop);
  std::vector<NodeStats> stats = context.stats();
  for (std::size_t i = 0; i < reports.size(); ++i) reports[i].stats = std::move(stats[i]);
  return reports;
}

}  // namespace sheaf::client::calls
