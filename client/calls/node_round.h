#pragma once

// NodeRound: the same request for several nodes of one topology, once, in parallel, as a Work. If
// the servers decide which nodes are members, and have not said so yet, a request that needs an
// owner goes first, and ends once they have.
//
// Answers says which nodes are asked what, and collects the answers:
//   using Out                                    the outcome
//   std::optional<Error> refusal(Context&)       why nothing is asked
//   Deadline scout_deadline(Admission, Now)      of the request that goes first
//   std::optional<Error> unknown(Completion, Deadline started)
//                                                why nothing is asked if that one has failed;
//                                                nothing: the configuration's nodes are asked
//   std::vector<std::uint32_t> nodes(Topology)   the indices of those to ask, in the order of Out
//   void describe(protocol::Operation&)          the request, apart from its deadline
//   void expect(const cluster::Member&)          for each of them, before the first answer
//   void on_answer(std::size_t position, Context&, Request, Completion, Deadline started)
//   void fail(Error)                             in place of all answers
//   Out take()
//
// Thread rule: under the baton.

#include <optional>
#include <utility>
#include <vector>

#include "client/calls/admit.h"
#include "client/calls/work.h"

namespace sheaf::client::calls {

template <class Answers>
class NodeRound final : private socket::RequestSink {
 public:
  using Out = typename Answers::Out;

  template <class... Args>
  NodeRound(WorkEnd& end, runtime::Context& context, Admission admission, Args&&... args)
      : end_(end),
        context_(context),
        admission_(std::move(admission)),
        answers_(std::forward<Args>(args)...) {}

  void start(Now now) {
    if (auto refused = answers_.refusal(context_)) return fail(std::move(*refused));
    if (context_.path().knows_members()) return ask_all(now);
    scout_.operation.verb = protocol::Verb::probe;
    scout_.operation.deadline = answers_.scout_deadline(admission_, now);
    scout_.route = "any";
    scout_.counted = false;
    scout_.sink = this;
    context_.cluster().start(scout_, now);
  }
  void cancel(Now now) {
    cancelled_ = true;
    if (requests_.empty()) return context_.cluster().cancel(scout_, now);
    ++left_;  // not before the last one has been cancelled
    cancel_all(now);
    one_less();
  }
  Out take() { return answers_.take(); }

 private:
  void ask_all(Now now) {
    const cluster::Topology& topology = context_.cluster().topology();
    const std::vector<std::uint32_t> nodes = answers_.nodes(topology);
    if (nodes.empty()) {
      return fail(runtime::local_error(Outcome::not_sent, Reason::other, "no server owns a slot"));
    }
    requests_ = std::vector<cluster::Request>(nodes.size());
    for (const std::uint32_t node : nodes) answers_.expect(*topology.member(node));
    left_ = requests_.size() + 1;  // not before the last one has been started
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      answers_.describe(requests_[i].operation);
      requests_[i].operation.deadline = admission_.deadline;
      requests_[i].parent = admission_.parent;
      requests_[i].sink = this;
      context_.cluster().start_on(nodes[i], requests_[i], now);
    }
    if (cancelled_) cancel_all(now);
    one_less();
  }
  void cancel_all(Now now) {
    for (cluster::Request& request : requests_) context_.cluster().cancel(request, now);
  }
  void on_done(socket::Request& request, const socket::Completion& completion) override {
    if (&request == &scout_) {
      const bool known = context_.path().knows_members();
      auto unknown = known ? std::nullopt : answers_.unknown(completion, admission_.started);
      return unknown ? fail(std::move(*unknown)) : ask_all(completion.now);
    }
    const auto& asked = static_cast<const cluster::Request&>(request);
    const auto position = static_cast<std::size_t>(&asked - requests_.data());
    answers_.on_answer(position, context_, asked, completion, admission_.started);
    one_less();
  }
  void fail(Error error) {  // NOLINT: the answers may keep it
    answers_.fail(std::move(error));
    end_.ended();
  }
  void one_less() {
    if (--left_ == 0) end_.ended();
  }

  WorkEnd& end_;
  runtime::Context& context_;
  const Admission admission_;
  Answers answers_;
  cluster::Request scout_;
  bool cancelled_ = false;
  std::size_t left_ = 0;
  std::vector<cluster::Request> requests_;
};

}  // namespace sheaf::client::calls
