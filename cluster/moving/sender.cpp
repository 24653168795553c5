#include "cluster/moving/sender.h"

#include "node/node_records.h"

namespace sheaf::cluster {

void Sender::keep_order() {
  if (!keeps_order_) return;
  order_.keep([this](const auto& enter) { parts_.in_progress.for_each(enter); });
}

void Sender::hold_key(Request& request) {
  if (!keeps_order_) return;
  keep_order();
  order_.begin(request);
  hold(request);
}

bool Sender::admits(Request& request, std::uint32_t node, Now now) {
  request.node_ = node;
  if (!order_.may_go(request, node)) {
    order_.park(request, now);
    parts_.timer.need(order_.poll_deadline());
    try_parked();
    return false;
  }
  order_.send(request);
  try_parked();
  return true;
}

void Sender::send(Request& request, std::uint32_t node, Now now) {
  if (admits(request, node, now)) parts_.nodes[node].start(request, now);
}

void Sender::hold(Request& request) {
  order_.hold(request);
  try_parked();
}

void Sender::release_key(Request& request) {
  order_.leave(request, false);
  try_parked();
}

void Sender::forget(Request& request, const socket::Completion& completion) {
  order_.leave(request, completion.answered || completion.outcome == Outcome::unknown);
  try_parked();
}

void Sender::try_parked() {
  if (order_.has_to_try()) parts_.loop.defer(*this);
}

void Sender::run_deferred(Now now) {
  if (shut_down_) return;
  while (Request* const parked = order_.next_to_try()) parts_.owner.try_again(*parked, now);
}

void Sender::advance(Now now) {
  order_.advance(now);
  try_parked();
  parts_.timer.need(order_.poll_deadline());
}

void Sender::end_parked(Request& parked, Reason reason, Now now) {
  socket::Completion completion;
  completion.outcome = reason == Reason::closed ? Outcome::shutdown : Outcome::not_sent;
  completion.reason = reason;
  if (reason == Reason::timed_out) {
    completion.text = "an earlier operation on the key has not ended";
  } else if (reason == Reason::connection_lost) {
    completion.text = "the topology has changed, and the request may not go to another node";
  } else if (reason == Reason::closed) {
    completion.text = "the client is closing";
  }
  completion.now = now;
  end(parked, completion);
}

std::string Sender::unowned(const Request& request) const {
  const Location found = parts_.nodes.topology().locate(request.route_or_key());
  return "no server owns slot " + std::to_string(found.point);
}

void Sender::end_unowned(Request& request, Now now) {
  const std::string text = unowned(request);
  socket::Completion completion;
  completion.outcome = Outcome::not_sent;
  completion.reason = Reason::other;
  completion.text = text;
  completion.now = now;
  end(request, completion);
}

void Sender::end(Request& request, const socket::Completion& completion) {
  if (parts_.events.listening() && completion.reason != Reason::cancelled) {
    parts_.events.record(node::record_of(request, completion, parts_.events));
  }
  give_back(request, completion);
}

void Sender::give_back(Request& request, const socket::Completion& completion) {
  parts_.requests.on_request_done(request, completion);
  request.sink->on_done(request, completion);
}

void Sender::shut_down(Now now) {
  shut_down_ = true;
  while (Request* const parked = order_.any_parked()) end_parked(*parked, Reason::closed, now);
}

}  // namespace sheaf::cluster
