// The members of Client that are about nodes instead of keys.

#include <sheaf/client.h>

#include "base/read_clocks.h"
#include "client/calls/call.h"
#include "client/calls/checks.h"
#include "client/features.h"

namespace sheaf {
inline namespace v0 {
namespace {

// The same question to every node, once, in parallel.
class NodeRound : private socket::Lane::Task, private socket::RequestSink {
 public:
  NodeRound(Client::Impl& impl, const protocol::Operation& operation, Deadline started)
      : impl_(impl),
        started_(started),
        count_(static_cast<unsigned>(impl.config().nodes.size())),
        requests_(new socket::Request[count_]) {
    for (unsigned i = 0; i < count_; ++i) {
      requests_[i].operation = operation;
      requests_[i].sink = this;
    }
  }
  NodeRound(const NodeRound&) = delete;
  NodeRound& operator=(const NodeRound&) = delete;

 protected:
  ~NodeRound() = default;
  void ask() { impl_.lane().call(*this, waiter_); }
  unsigned count() const noexcept { return count_; }
  Client::Impl& impl() noexcept { return impl_; }
  Error error_of(const socket::Completion& completion) const {
    return client::runtime::make_error(completion, started_);
  }

 private:
  // Under the baton, for each node.
  virtual void on_answer(const socket::Request& request, const socket::Completion& completion) = 0;

  void run(Now now) override {
    left_ = count_;
    for (unsigned i = 0; i < count_; ++i) impl_.cluster().start_on(i, requests_[i], now);
  }
  void on_done(socket::Request& request, const socket::Completion& completion) override {
    on_answer(request, completion);
    if (--left_ == 0) impl_.lane().finish(waiter_);
  }

  Client::Impl& impl_;
  Deadline started_;
  unsigned count_;
  unsigned left_ = 0;
  std::unique_ptr<socket::Request[]> requests_;
  socket::Lane::Waiter waiter_;
};

// For its clock, or where the endpoint has none to tell, whether it answers.
class NodeCheck final : public NodeRound {
 public:
  NodeCheck(Client::Impl& impl, const protocol::Operation& operation, Deadline started)
      : NodeRound(impl, operation, started), reports_(count()) {}
  std::vector<NodeReport> wait() {
    ask();
    std::vector<NodeStats> stats = impl().stats();
    for (unsigned i = 0; i < count(); ++i) reports_[i].stats = std::move(stats[i]);
    return std::move(reports_);
  }

 private:
  void on_answer(const socket::Request& request, const socket::Completion& completion) override {
    NodeReport& report = reports_[request.node];
    if (!completion.answered) {
      report.error = error_of(completion);
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

  std::vector<NodeReport> reports_;
};

// For some text about itself.
class NodeQuestion final : public NodeRound {
 public:
  NodeQuestion(Client::Impl& impl, const protocol::Operation& operation, Deadline started)
      : NodeRound(impl, operation, started) {
    for (const NodeConfig& node : impl.config().nodes) {
      texts_.push_back({node.identity(), Result<std::string>()});
    }
  }
  std::vector<NodeText> wait() {
    ask();
    return std::move(texts_);
  }

 private:
  void on_answer(const socket::Request& request, const socket::Completion& completion) override {
    Result<std::string>& text = texts_[request.node].text;
    if (completion.answered) {
      text = std::string(completion.reply.value);
    } else {
      text = Failure(error_of(completion));
    }
  }

  std::vector<NodeText> texts_;
};

std::vector<NodeText> ask_nodes(Client::Impl& impl, protocol::Verb verb, std::string_view key,
                                const Timeout& timeout) {
  const Deadline started = read_monotonic();
  protocol::Operation operation;
  operation.verb = verb;
  operation.key = key;
  if (auto refused =
          client::calls::prepare(impl, operation, started, timeout, true, std::nullopt)) {
    std::vector<NodeText> texts;
    for (const NodeConfig& node : impl.config().nodes) {
      texts.push_back({node.identity(), Failure(*refused)});
    }
    return texts;
  }
  return NodeQuestion(impl, operation, started).wait();
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

Result<Location> Client::locate(std::string_view key) const {
  if (auto error = client::calls::check_key(key)) return Failure(std::move(*error));
  const cluster::Topology& topology = impl_->topology();
  const cluster::Location found = topology.locate(key);
  Location location;
  location.node = topology.identity(found.node);
  location.slot = found.point;
  const bool tags = impl_->config().ring == RingProfile::none;
  location.routing_key = tags ? cluster::routing_key(key) : key;
  const bool tagged = location.routing_key.size() != key.size();
  const bool slots = impl_->config().locator == LocatorKind::slots;
  location.reason = std::string(tagged ? "the tag in {} " : "the key ") + "falls on " +
                    (slots ? "slot " : "ring point ") + std::to_string(found.point) + ", which " +
                    location.node + " owns";
  return location;
}

std::vector<NodeStats> Client::stats() const {
  if (!impl_->refusal(true)) return impl_->stats();
  std::vector<NodeStats> stats;
  for (NodeReport& report : unasked(impl_->config(), {})) stats.push_back(std::move(report.stats));
  return stats;
}

std::vector<NodeText> Client::server_stats(std::string_view group, Timeout timeout) {
  return ask_nodes(*impl_, protocol::Verb::stats, group, timeout);
}

std::vector<NodeText> Client::server_versions(Timeout timeout) {
  return ask_nodes(*impl_, protocol::Verb::server_version, {}, timeout);
}

std::vector<NodeReport> Client::check_nodes(Timeout timeout) {
  const Deadline started = read_monotonic();
  const bool clocks = client::supports(impl_->config().kind, Feature::clock);
  protocol::Operation operation;
  operation.verb = clocks ? protocol::Verb::clock : protocol::Verb::probe;
  if (auto refused =
          client::calls::prepare(*impl_, operation, started, timeout, true, std::nullopt)) {
    return unasked(impl_->config(), *refused);
  }
  return NodeCheck(*impl_, operation, started).wait();
}

}  // namespace v0
}  // namespace sheaf
