// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/register_base.h"

#include <utility>

#include "client/runtime/outcomes.h"

namespace sheaf::client::list {

namespace {

constexpr std::size_t register_window = 256;

}  // namespace

bool RegisterBase::worth_another(const socket::Completion& answer) noexcept {
  switch (answer.outcome) {
    case Outcome::unknown:
      return true;
    case Outcome::refused:
      return answer.reason == Reason::fencing_stale || answer.reason == Reason::timed_out ||
             answer.reason == Reason::overtaken;
    case Outcome::not_sent:
      return answer.reason == Reason::connection_lost || answer.reason == Reason::timed_out;
    default:
      return false;
  }
}

RegisterBase::RegisterBase(Keys keys, std::chrono::milliseconds step_timeout)
    : keys_(std::move(keys)),
      step_timeout_(step_timeout),
      pending_(register_window, keys_.route()),
      sweeper_(keys_) {
  pending_.number_from(1, 2);
}

void RegisterBase::begin_attempt(Deadline until, Now now) {
  ++attempt_;
  started_ = now.mono;
  until_ = until;
}

void RegisterBase::send(unsigned purpose, PendingOperation operation, Now now) {
  operation.purpose = purpose;
  operation.attempt = attempt_;
  if (operation.deadline == Deadline{0})
    operation.deadline = std::min(until_, now.mono + step_timeout_);
  pending_.add(std::move(operation));
}

void RegisterBase::send_gets(unsigned purpose, std::vector<std::string> gets, Now now) {
  values_.assign(gets.size(), std::nullopt);
  for (std::size_t i = 0; i < gets.size(); ++i) {
    PendingOperation operation(protocol::Verb::get, std::move(gets[i]));
    operation.connection = connection_;
    operation.place = i;
    send(purpose, std::move(operation), now);
  }
}

bool RegisterBase::on_exchanged(const PendingOperation& operation, bool is_get,
                                const socket::Completion& answer) {
  if (is_get && answer.reply.status == protocol::Status::done) {
    values_[operation.place] = answer.reply.value;
  }
  return --unanswered_ == 0;
}

void RegisterBase::on_answer(unsigned id, const socket::Completion& answer) {
  if (sweeper_.on_answer(id, answer)) return;
  const std::unique_ptr<PendingOperation> operation = pending_.answered(id);
  if (operation != nullptr) on_reply_to(*operation, answer);
}

void RegisterBase::fail(const socket::Completion& answer) {
  end(worth_another(answer) ? Kind::lost : Kind::failed, runtime::make_error(answer, started_),
      answer.now);
}

void RegisterBase::end(Kind kind, Error error, Now now) {
  close(now.mono + step_timeout_, now);
  event_ = {kind, std::move(error)};
}

Error RegisterBase::refused(const socket::Completion& answer, Reason reason,
                            std::string text) const {
  Error error = runtime::make_error(answer, started_);
  error.outcome = Outcome::refused;
  error.reason = reason;
  error.text = std::move(text);
  return error;
}

void RegisterBase::use_connection(std::uint64_t connection) {
  if (connection_ != connection) sweeper_.start_over();
  connection_ = connection;
}

void RegisterBase::replace_head(Head next, Sweeper::Terms terms) {
  sweeper_.sweep(head_.garbage, std::move(terms));
  head_ = std::move(next);
  sweeper_.forget_swept(head_.garbage);
}

}  // namespace sheaf::client::list
