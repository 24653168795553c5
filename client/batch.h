#pragma once

// A batch under the baton: feeds every node's window from a plan, all nodes at once, and collects
// one outcome for each distinct key. Blocking and asynchronous batches differ in how they end
// (batch_call.h); gets, in that many of them may go as one request (get_batch.h).
//
// Thread rule: made by the caller; from begin() to its end under the baton.

#include <memory>
#include <string>
#include <vector>

#include "client/checks.h"
#include "client/client_impl.h"
#include "client/outcomes.h"
#include "cluster/batch_plan.h"

namespace sheaf::client {

// What is the same for every key of a batch.
struct BatchTerms {
  protocol::Operation operation;  // without key and value
  Deadline started{0};
};

template <class Op>
class Batch : private socket::RequestSink {
 public:
  using Entry = KeyResult<typename Op::Out::value_type>;

  Batch(Client::Impl& impl, cluster::BatchPlan plan, const BatchTerms& terms)
      : impl_(impl),
        plan_(std::move(plan)),
        started_(terms.started),
        requests_(new socket::Request[plan_.size()]) {
    results_.reserve(plan_.size());
    for (std::uint32_t i = 0; i < plan_.size(); ++i) {
      const auto& item = plan_.item(i);
      results_.emplace_back(std::string(item.key));
      requests_[i].operation = terms.operation;
      requests_[i].operation.key = results_[i].key;
      requests_[i].operation.value = item.value;
      requests_[i].sink = this;
    }
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

 protected:
  ~Batch() = default;

  // Under the baton, of the batch's own caller or not; may end the batch before it returns.
  void begin(Now now, bool /*caller_drives*/) {
    now_ = now;
    feeding_ = true;
    for (const std::uint32_t node : plan_.nodes()) feed(node);
    feeding_ = false;
    if (plan_.unfinished() == 0) on_batch_done();
  }
  // Once; the object may be destroyed in it.
  virtual void on_batch_done() = 0;

  // The caller's keys will not outlive the call.
  void own_keys() noexcept {}

  Client::Impl& impl() noexcept { return impl_; }
  std::vector<Entry> take_results() noexcept { return std::move(results_); }

 private:
  void feed(std::uint32_t node) {
    while (const auto index = plan_.next(node)) {
      if (auto error = check(requests_[*index].operation)) {  // a bad key spoils itself only
        results_[*index].result = Failure(std::move(*error));
        plan_.done(*index);
      } else {
        impl_.cluster().start_at(node, requests_[*index], now_);
      }
    }
  }
  std::optional<Error> check(const protocol::Operation& operation) const {
    if (auto error = check_key(operation.key)) return error;
    return check_value(operation.value, impl_.config());
  }
  void on_done(socket::Request& request, const socket::Completion& completion) override {
    const auto index = static_cast<std::uint32_t>(&request - requests_.get());
    results_[index].result = Op::convert(completion, started_);
    plan_.done(index);
    if (feeding_) return;  // the loop in begin() or below goes on
    now_ = completion.now;
    feeding_ = true;
    feed(plan_.item(index).node);
    feeding_ = false;
    if (plan_.unfinished() == 0) on_batch_done();
  }

  Client::Impl& impl_;
  cluster::BatchPlan plan_;
  Deadline started_;
  std::unique_ptr<socket::Request[]> requests_;
  std::vector<Entry> results_;
  Now now_;
  bool feeding_ = false;
};

}  // namespace sheaf::client
