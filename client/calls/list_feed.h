#pragma once

// ListFeed: the part that batches share in which many keys of a node may be one request. A batch
// says which keys go together, and what the end of a request means for its keys.
//
// Thread rule: as for Work.

#include <deque>
#include <vector>

#include "client/calls/batch.h"

namespace sheaf::client::calls {

// What the answer to one key of a request means.
socket::Completion completion_of_item(runtime::Path& path, const cluster::Request& request,
                                      const protocol::Reply& reply, Now now);

class ListFeed : protected BatchFeed, protected socket::RequestSink {
 protected:
  // A request for the keys at the places first .. first + count - 1.
  struct Part final : cluster::Request {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  // A key to request alone.
  struct Alone {
    std::uint32_t place = 0;
    std::uint64_t continues = 0;  // cluster::Request::continues
  };

  ListFeed(WorkEnd& end, BatchGround ground, cluster::BatchPlan plan, const BatchTerms& terms);
  ~ListFeed() = default;

  // Starts the keys of a run, or ends those that cannot be requested.
  virtual void start_run(std::uint32_t node, cluster::BatchPlan::Run run) = 0;
  virtual void start_alone(std::uint32_t node, const Alone& alone) = 0;
  // After the runs of a node: starts what is to be requested again in some other way.
  virtual void ask_again() {}
  // A request has ended: decides about its keys without an outcome.
  virtual void end_part(const Part& part, const socket::Completion& completion) = 0;

  // A new request, which has everything but its keys.
  Part& make_part(std::uint32_t first, std::uint32_t count, std::uint64_t continues);
  void start_part(std::uint32_t node, Part& part) {
    path().cluster().start_at(plan().epoch(), node, part, now());
  }
  socket::Completion completion_of(const Part& part, const protocol::Reply& reply, Now now) {
    return completion_of_item(path(), part, reply, now);
  }
  // True if a request was not sent, and its keys may be on other nodes by now.
  bool may_have_moved(const socket::Completion& completion);

  const BatchTerms& terms() const noexcept { return terms_; }

  std::pmr::vector<std::string_view> keys_;  // by place; views of the caller's keys
  std::pmr::vector<Alone> alone_;

 private:
  void feed(std::uint32_t node) final;
  void cancel_started(Now now) final;
  void start_runs(std::uint32_t node);
  void on_done(socket::Request& request, const socket::Completion& completion) final;

  const BatchTerms terms_;
  std::pmr::deque<Part> parts_;
  std::pmr::vector<Part*> idle_parts_;
};

}  // namespace sheaf::client::calls
