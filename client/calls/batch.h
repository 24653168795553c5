#pragma once

// A batch under the baton: feeds every node's window from a plan, all nodes at once, and collects
// one outcome for each distinct key. Blocking and asynchronous batches differ in how they end
// (batch_call.h); gets, in that many of them may go as one request (get_batch.h).
//
// Thread rule: made by the caller; from begin() to its end under the baton.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/calls/checks.h"
#include "client/client_impl.h"
#include "client/runtime/outcomes.h"
#include "cluster/batch_plan.h"

namespace sheaf::client::calls {

// What is the same for every key of a batch.
struct BatchTerms {
  protocol::Operation operation;  // without key and value
  Deadline started{0};
};

// What every batch does: starts what its nodes have room for, at the beginning and whenever a
// request ends, until there is nothing left.
class BatchFeed {
 public:
  BatchFeed(const BatchFeed&) = delete;
  BatchFeed& operator=(const BatchFeed&) = delete;

 protected:
  BatchFeed(Client::Impl& impl, runtime::Path& path, cluster::BatchPlan plan)
      : impl_(impl), path_(path), plan_(std::move(plan)) {}
  ~BatchFeed() = default;

  // May end the batch before it returns.
  void begin(Now now) { feed_all(plan_.nodes(), now); }
  // A request of the node has ended, and the plan knows it.
  void go_on(std::uint32_t node, Now now) {
    if (!feeding_) feed_all({&node, 1}, now);  // else the loop that started it goes on
  }
  // Starts what the node has room for.
  virtual void feed(std::uint32_t node) = 0;
  // Once; the object may be destroyed in it.
  virtual void on_batch_done() = 0;
  // Whether the baton is with the caller who waits for this batch.
  virtual bool caller_drives() noexcept { return false; }

  Client::Impl& impl() noexcept { return impl_; }
  runtime::Path& path() noexcept { return path_; }
  cluster::BatchPlan& plan() noexcept { return plan_; }
  Now now() const noexcept { return now_; }

 private:
  void feed_all(std::span<const std::uint32_t> nodes, Now now) {
    now_ = now;
    feeding_ = true;
    for (const std::uint32_t node : nodes) feed(node);
    feeding_ = false;
    if (plan_.unfinished() == 0) on_batch_done();
  }

  Client::Impl& impl_;
  runtime::Path& path_;
  cluster::BatchPlan plan_;
  Now now_;
  bool feeding_ = false;
};

template <class Op>
class Batch : protected BatchFeed, private socket::RequestSink {
 public:
  using Entry = KeyResult<typename Op::Out::value_type>;

  Batch(Client::Impl& impl, runtime::Path& path, cluster::BatchPlan plan, const BatchTerms& terms)
      : BatchFeed(impl, path, std::move(plan)),
        started_(terms.started),
        requests_(new socket::Request[this->plan().size()]) {
    results_.reserve(this->plan().size());
    for (std::uint32_t i = 0; i < this->plan().size(); ++i) {
      const auto& item = this->plan().item(i);
      results_.emplace_back(std::string(item.key));
      requests_[i].operation = terms.operation;
      requests_[i].operation.key = results_[i].key;
      requests_[i].operation.value = item.value;
      requests_[i].sink = this;
    }
  }

 protected:
  ~Batch() = default;

  // The caller's keys will not outlive the call.
  void own_keys() noexcept {}

  std::vector<Entry> take_results() noexcept { return std::move(results_); }

 private:
  void feed(std::uint32_t node) override {
    while (const auto index = plan().next(node)) {
      if (auto error = check(requests_[*index].operation)) {  // a bad key spoils itself only
        results_[*index].result = Failure(std::move(*error));
        plan().done(*index);
      } else {
        path().cluster().start_at(node, requests_[*index], now());
      }
    }
  }
  std::optional<Error> check(const protocol::Operation& operation) {
    if (auto error = check_key(operation.key)) return error;
    return check_value(operation.value, impl().config());
  }
  void on_done(socket::Request& request, const socket::Completion& completion) override {
    const auto index = static_cast<std::uint32_t>(&request - requests_.get());
    results_[index].result = Op::convert(completion, started_);
    plan().done(index);
    go_on(plan().item(index).node, completion.now);
  }

  Deadline started_;
  std::unique_ptr<socket::Request[]> requests_;
  std::vector<Entry> results_;
};

}  // namespace sheaf::client::calls
