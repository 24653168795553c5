#include "client/calls/list_feed.h"

#include <utility>

namespace sheaf::client::calls {
namespace {

// The most keys of one request: the server works on one request while the next is encoded.
constexpr std::uint32_t most_keys = 256;

}  // namespace

socket::Completion completion_of_item(runtime::Path& path, const cluster::Request& request,
                                      const protocol::Reply& reply, Now now) {
  socket::Completion completion;
  completion.answered = reply.status != protocol::Status::refused;
  completion.reply = reply;
  completion.outcome = Outcome::refused;
  completion.reason = reply.reason;
  completion.text = reply.text;
  completion.node = path.cluster().node(request.node()).options().identity;
  completion.now = now;
  return completion;
}

ListFeed::ListFeed(WorkEnd& end, BatchGround ground, cluster::BatchPlan plan,
                   const BatchTerms& terms)
    : BatchFeed(end, ground, std::move(plan)),
      keys_(this->plan().size(), this->plan().memory()),
      alone_(this->plan().memory()),
      terms_(terms),
      parts_(this->plan().memory()),
      idle_parts_(this->plan().memory()) {
  for (std::uint32_t place = 0; place < keys_.size(); ++place) {
    keys_[place] = this->plan().item(this->plan().at(place)).key;
  }
}

// Starts as many keys as the node has room for, and the keys that must be requested alone.
void ListFeed::feed(std::uint32_t node) {
  start_runs(node);
  while (!alone_.empty()) {
    const Alone alone = alone_.back();
    alone_.pop_back();
    const std::uint32_t owner = plan().item(plan().at(alone.place)).node;
    start_alone(owner, alone);
    start_runs(owner);
  }
}

void ListFeed::cancel_started(Now now) {
  for (Part& part : parts_) path().cluster().cancel(part, now);
}

void ListFeed::start_runs(std::uint32_t node) {
  for (;;) {
    const bool scatters = path().cluster().scatters(plan().epoch(), node);
    const auto run = plan().next_run(node, scatters ? 1 : most_keys);
    if (run.count == 0) break;
    start_run(node, run);
  }
  ask_again();
}

ListFeed::Part& ListFeed::make_part(std::uint32_t first, std::uint32_t count,
                                    std::uint64_t continues) {
  if (idle_parts_.empty()) idle_parts_.push_back(&parts_.emplace_back());
  Part& part = *idle_parts_.back();
  idle_parts_.pop_back();
  part.first = first;
  part.count = count;
  part.sink = this;
  part.operation = terms_.operation;
  part.continues = continues;
  part.parent = terms_.parent;
  return part;
}

bool ListFeed::may_have_moved(const socket::Completion& completion) {
  const bool moved = config().failover == FailoverMode::rehash ||
                     path().cluster().topology().epoch() != plan().epoch();
  return !completion.answered && completion.outcome == Outcome::not_sent && moved;
}

void ListFeed::on_done(socket::Request& request, const socket::Completion& completion) {
  Part& part = static_cast<Part&>(request);
  end_part(part, completion);
  const std::uint32_t node = plan().item(plan().at(part.first)).node;
  idle_parts_.push_back(&part);
  go_on(node, completion.now);
}

}  // namespace sheaf::client::calls
