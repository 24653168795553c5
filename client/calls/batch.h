#pragma once

// A batch as a Work: fills every node's window from a plan, all nodes at once, and collects one
// outcome for each distinct key. Gets have their own class (get_batch.h), because many of them may
// share one request.
//
// Thread rule: as for Work.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/calls/admit.h"
#include "client/calls/checks.h"
#include "client/calls/work.h"
#include "client/runtime/outcomes.h"
#include "cluster/placement/batch_plan.h"

namespace sheaf::client::calls {

// The arguments that all keys of a batch share.
struct BatchTerms {
  protocol::Operation operation;  // without key and value
  Deadline started{0};
  std::shared_ptr<void> parent{};  // for an observer
};

// Where a batch runs: on the client's own path, or on an extra connection.
struct BatchGround {
  runtime::Context& context;
  runtime::Path& path;
};

// The part that all batches share: it starts as many requests as the nodes have room for, at the
// beginning and whenever a request ends, until none are left. After cancel() nothing is started:
// keys that had not begun end as cancelled.
class BatchFeed {
 public:
  BatchFeed(const BatchFeed&) = delete;
  BatchFeed& operator=(const BatchFeed&) = delete;

  void cancel(Now now) {
    cancelled_ = true;
    feeding_ = true;  // requests that end here start no others
    cancel_started(now);
    feed_all(plan_.nodes(), now);
  }

 protected:
  BatchFeed(WorkEnd& end, BatchGround ground, cluster::BatchPlan plan)
      : end_(end), ground_(ground), plan_(std::move(plan)) {}
  ~BatchFeed() = default;

  // May end the batch before it returns.
  void begin(Now now) { feed_all(plan_.nodes(), now); }
  // A request of the node has ended, and the plan has been updated.
  void go_on(std::uint32_t node, Now now) {
    if (!feeding_) feed_all({&node, 1}, now);  // else the loop that started it continues
  }
  // Starts as many requests as the node has room for.
  virtual void feed(std::uint32_t node) = 0;
  // Cancels the requests that were started.
  virtual void cancel_started(Now now) = 0;

  bool cancelled() const noexcept { return cancelled_; }
  const WorkEnd& end() const noexcept { return end_; }
  const ClusterConfig& config() const noexcept { return ground_.context.config(); }
  runtime::Path& path() noexcept { return ground_.path; }
  cluster::BatchPlan& plan() noexcept { return plan_; }
  const cluster::BatchPlan& plan() const noexcept { return plan_; }
  Now now() const noexcept { return now_; }

 private:
  void feed_all(std::span<const std::uint32_t> nodes, Now now) {
    now_ = now;
    feeding_ = true;
    for (const std::uint32_t node : nodes) feed(node);
    feeding_ = false;
    if (plan_.unfinished() == 0) end_.ended();
  }

  WorkEnd& end_;
  BatchGround ground_;
  cluster::BatchPlan plan_;
  Now now_;
  bool feeding_ = false;
  bool cancelled_ = false;
};

// The error of a key or command for which nothing was sent.
inline Error cancelled_key(Deadline started, Now now) {
  Error error = cancelled_error();
  error.elapsed = now.mono - started;
  return error;
}

// Sets and removes: one request for each key. For sets that share requests see set_batch.h.
template <class Op>
class KeyBatch final : private BatchFeed, private socket::RequestSink {
 public:
  using Entry = KeyResult<typename Op::Out::value_type>;
  using Out = std::vector<Entry>;

  KeyBatch(WorkEnd& end, BatchGround ground, cluster::BatchPlan plan, const BatchTerms& terms)
      : BatchFeed(end, ground, std::move(plan)),
        started_(terms.started),
        requests_(new cluster::Request[this->plan().size()]) {
    results_.reserve(this->plan().size());
    for (std::uint32_t i = 0; i < this->plan().size(); ++i) {
      const auto& item = this->plan().item(i);
      results_.emplace_back(std::string(item.key));
      requests_[i].operation = terms.operation;
      requests_[i].operation.key = results_[i].key;
      requests_[i].operation.value = item.value;
      requests_[i].parent = terms.parent;
      requests_[i].sink = this;
    }
  }

  void start(Now now) { begin(now); }
  using BatchFeed::cancel;
  Out take() noexcept { return std::move(results_); }

 private:
  void feed(std::uint32_t node) override {
    while (const auto index = plan().next(node)) {
      if (auto error = obstacle(requests_[*index].operation)) {  // a bad key fails alone
        results_[*index].result = Failure(std::move(*error));
        plan().done(*index);
      } else {
        path().cluster().start_at(plan().epoch(), node, requests_[*index], now());
      }
    }
  }
  void cancel_started(Now now) override {
    for (std::uint32_t i = 0; i < plan().size(); ++i) path().cluster().cancel(requests_[i], now);
  }
  // The reason that the operation is not started, if any.
  std::optional<Error> obstacle(const protocol::Operation& operation) {
    if (cancelled()) return cancelled_key(started_, now());
    if (auto error = check_key(operation.key)) return error;
    return check_value(operation.value, config());
  }
  void on_done(socket::Request& request, const socket::Completion& completion) override {
    const auto index =
        static_cast<std::uint32_t>(&static_cast<cluster::Request&>(request) - requests_.get());
    results_[index].result = Op::convert(completion, started_);
    plan().done(index);
    go_on(plan().item(index).node, completion.now);
  }

  Deadline started_;
  std::unique_ptr<cluster::Request[]> requests_;
  std::vector<Entry> results_;
};

}  // namespace sheaf::client::calls
