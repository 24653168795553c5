// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/answers.h"

#include <utility>

#include "base/checks.h"

namespace sheaf::protocol::memcached {
namespace {

constexpr std::size_t longest_stats = 1 << 20;

Reply refusal(Reason reason, std::string_view text) noexcept {
  Reply reply;
  reply.status = Status::refused;
  reply.reason = reason;
  reply.text = text;
  return reply;
}

}  // namespace

bool Answers::may_come(const Pending& request, bool early) {
  const OutputQueue::Progress progress = life_.output().progress(request.frame);
  const bool left = progress == OutputQueue::Progress::written;
  if (!early_ && (left || (early && progress == OutputQueue::Progress::begun))) return true;
  life_.broken("a reply to a request that has not been sent");
  return false;
}

Step Answers::answer(Pending& request, const Reply& reply, Event& event) {
  if (request.question == Question::stats) {
    stats_.clear();
    stats_over_limit_ = false;
  }
  if (request.state != Pending::State::waiting) {
    if (request.ticket.generation != 0) ++life_.counters().late_replies;
    queue_.finish(request);
    return Step::again;
  }
  if (life_.output().needs_borrowed(request.frame)) {  // a refusal, as may_come() has ensured
    early_ = Early{request.sequence, reply.reason, std::string(reply.text)};
    request.acts_early = true;
    return Step::again;
  }
  event.kind = Event::Kind::reply;
  event.ticket = request.ticket;
  event.index = 0;
  event.reply = reply;
  event.sent = Sent::maybe;
  queue_.finish(request);
  return Step::event;
}

Step Answers::item(Pending& request, std::uint32_t index, const Reply& reply, Event& event) const {
  if (request.state != Pending::State::waiting) return Step::again;
  event.kind = Event::Kind::item;
  event.ticket = request.ticket;
  event.index = index;
  event.reply = reply;
  event.sent = Sent::maybe;
  return Step::event;
}

Step Answers::refuse(Pending& request, Reason reason, std::string_view text, Event& event) {
  return answer(request, refusal(reason, text), event);
}

Step Answers::refuse_and_end(Pending& request, Reason reason, std::string_view text, Event& event) {
  life_.end_after_event({Reason::protocol_error, "the server gave up: " + std::string(text)});
  return refuse(request, reason, text, event);
}

bool Answers::early_refusal(Event& event) {
  Pending* const request = queue_.find(early_->sequence);
  SHEAF_CHECK(request != nullptr);
  if (life_.output().needs_borrowed(request->frame)) return false;
  event_text_ = std::move(early_->text);
  const Reason reason = early_->reason;
  early_.reset();
  return refuse(*request, reason, event_text_, event) == Step::event;
}

// ---- statistics

Step Answers::add_stat(const Pending& request, std::string_view name, std::string_view value) {
  if (request.state != Pending::State::waiting) return Step::again;
  if (stats_.size() + name.size() + value.size() + 2 > longest_stats) stats_over_limit_ = true;
  if (stats_over_limit_) return Step::again;
  stats_.append(name).append(1, ' ').append(value).append(1, '\n');
  return Step::again;
}

Step Answers::end_stats(Pending& request, Event& event) {
  event_text_ = std::exchange(stats_, {});
  if (std::exchange(stats_over_limit_, false)) {
    return refuse(request, Reason::too_large, "the statistics are above 1 MiB", event);
  }
  Reply reply;
  reply.value = event_text_;
  return answer(request, reply, event);
}

// ---- parts of replies

std::string_view Answers::version_text(std::uint64_t cas) noexcept {
  if (cas == 0) return {};
  version_text_ = DecimalText(cas);
  return version_text_.view();
}

Reply Answers::above_value_limit() noexcept {
  return refusal(Reason::too_large, "the value is above value_limit");
}

}  // namespace sheaf::protocol::memcached
