#include "client/watch/watch_session.h"

#include <algorithm>
#include <optional>

#include "base/notify_on_stop.h"
#include "base/read_clocks.h"
#include "client/calls/admit.h"
#include "client/calls/work.h"
#include "client/runtime/outcomes.h"
#include "client/watch/watch_service.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::calls::WatchUpdate;
using client::runtime::local_error;
using std::chrono::system_clock;

system_clock::time_point wall_time(Now now) { return system_clock::time_point(now.wall); }

WatchEvent event_of(std::string_view key, const WatchUpdate& update) {
  WatchEvent event;
  event.kind = update.kind;
  event.key = key;
  if (update.value) event.value = std::string(*update.value);
  event.version.text = update.version;
  if (update.kind == WatchEvent::Kind::gap) {
    event.from = wall_time(update.from);
    event.until = std::max(event.from, wall_time(update.until));
  }
  if (update.error != nullptr) event.error = *update.error;
  return event;
}

}  // namespace

// A caller that waits for an event and turns the lane meanwhile, as a Work.
class Watch::Session::Caller final : public ListHook<Caller>, private socket::TimerSink {
 public:
  struct Out {};

  Caller(client::calls::WorkEnd& end, Session& session, Deadline until)
      : end_(end), session_(session), until_(until) {}

  void start(Now now) {
    if (session_.has_event() || now.mono >= until_) return end_.ended();
    session_.callers_.push_back(*this);
    if (until_ == never) return;
    timer_ = session_.service_->context.path().loop().timer(*this);
    timer_->set(until_);
  }
  void cancel(Now) { finish(); }
  void finish() {
    session_.callers_.remove(*this);
    timer_.reset();
    end_.ended();
  }
  Out take() { return {}; }

 private:
  void on_timer(Now) override { finish(); }

  client::calls::WorkEnd& end_;
  Session& session_;
  const Deadline until_;
  std::unique_ptr<socket::Timer> timer_;
};

Watch::Session::Session(std::shared_ptr<client::watch::WatchService> service,
                        std::vector<std::string> keys, const WatchOptions& options,
                        WatchCallback callback)
    : service_(std::move(service)),
      keys_(std::move(keys)),
      callback_(std::move(callback)),
      on_executor_(service_->context.dispatcher().has_executor()),
      buffer_(options.queue_limit) {}

Watch::Session::~Session() = default;

// ---- under the baton

void Watch::Session::begin(Now now) {
  for (const std::string& key : keys_) {
    service_->registry.add(key, *this, client::calls::WatchStart::current, now);
  }
}

void Watch::Session::end_watching(Now now) {
  for (const std::string& key : keys_) service_->registry.remove(key, *this, now);
}

void Watch::Session::on_update(std::string_view key, const WatchUpdate& update, Now now) {
  queue(event_of(key, update), now);
  tell_callers();
}

void Watch::Session::queue(WatchEvent event, Now now) {
  const sync::MutexLock lock(mutex_);
  if (stopped_) return;
  buffer_.push(std::move(event), wall_time(now));
  changed_.notify_all();
  if (callback_ && on_executor_ && !scheduled_) {
    scheduled_ = true;
    schedule();
  }
}

// A job of the dispatcher: the callbacks of one client run one after another.
void Watch::Session::schedule() {
  service_->context.dispatcher().post([self = shared_from_this()] { self->run_one(); });
}

void Watch::Session::finish() {
  {
    const sync::MutexLock lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }
  tell_callers();
}

bool Watch::Session::has_event() {
  const sync::MutexLock lock(mutex_);
  return finished_ || !buffer_.empty();
}

void Watch::Session::tell_callers() {
  while (Caller* const caller = callers_.front()) caller->finish();
}

bool Watch::Session::wait_for_callback() {
  const bool inside = calling_ && caller_ == &this_thread();
  while (!inside && calling_) changed_.wait(mutex_);
  return !inside;
}

void Watch::Session::finish_callback() {
  const sync::MutexLock lock(mutex_);
  wait_for_callback();
}

// ---- the user's side

Result<std::optional<WatchEvent>> Watch::Session::take(const NextOptions& options) {
  // In a forked child the mutex may be held for ever.
  if (auto refused = service_->context.refusal(false);
      refused && refused->reason == Reason::forked) {
    return Failure(std::move(*refused));
  }
  if (callback_) {
    return Failure(local_error(Outcome::invalid, Reason::bad_argument,
                               "this watch has a callback, which takes its events"));
  }
  if (options.stop != nullptr && options.stop->stop_requested()) {
    return Failure(client::calls::cancelled_error());
  }
  const Deadline until = client::calls::end_of(options.wait, read_monotonic());
  return service_->context.has_driver() ? turn_for_event(options, until)
                                        : sleep_for_event(options, until);
}

// The next event, or the end of them all.
std::optional<Result<std::optional<WatchEvent>>> Watch::Session::taken() {
  if (auto event = buffer_.pop(wall_time(read_clocks()))) return event;
  if (!finished_) return std::nullopt;
  return Failure(local_error(Outcome::shutdown, Reason::closed, "the client was closed"));
}

Result<std::optional<WatchEvent>> Watch::Session::sleep_for_event(const NextOptions& options,
                                                                  Deadline until) {
  const NotifyOnStop notify(options.stop, mutex_, changed_);
  const sync::MutexLock lock(mutex_);
  while (!finished_ && buffer_.empty() && !notify.stopped() && changed_.wait_until(mutex_, until)) {
  }
  if (auto out = taken()) return *std::move(out);
  if (notify.stopped()) return Failure(client::calls::cancelled_error());
  return std::optional<WatchEvent>();
}

// Another thread may take the event that ended the wait.
Result<std::optional<WatchEvent>> Watch::Session::turn_for_event(const NextOptions& options,
                                                                 Deadline until) {
  client::runtime::Context& context = service_->context;
  const client::runtime::Context::Entry entry(context);
  for (;;) {
    {
      const sync::MutexLock lock(mutex_);
      if (auto out = taken()) return *std::move(out);
    }
    if (options.stop != nullptr && options.stop->stop_requested()) {
      return Failure(client::calls::cancelled_error());
    }
    if (read_monotonic() >= until) return std::optional<WatchEvent>();
    if (auto refused = context.refusal(true)) return Failure(std::move(*refused));
    client::calls::Blocking<Caller>(context.lane(), client::calls::HowToWait(), *this, until)
        .wait(options.stop);
  }
}

// Takes one event and calls back without the mutex.
bool Watch::Session::call_one() {
  if (stopped_ || finished_) return false;
  const auto event = buffer_.pop(wall_time(read_clocks()));
  if (!event) return false;
  calling_ = true;
  caller_ = &this_thread();
  mutex_.unlock();
  service_->context.dispatcher().run_guarded([&] { callback_(*event); });
  mutex_.lock();
  calling_ = false;
  changed_.notify_all();
  return true;
}

void Watch::Session::run() {
  const sync::MutexLock lock(mutex_);
  for (;;) {
    while (call_one()) {
    }
    if (stopped_ || finished_) return;
    while (!stopped_ && !finished_ && buffer_.empty()) changed_.wait(mutex_);
  }
}

// One event for each task, so that many watches share an executor fairly.
void Watch::Session::run_one() {
  const sync::MutexLock lock(mutex_);
  call_one();
  scheduled_ = !stopped_ && !finished_ && !buffer_.empty();
  if (scheduled_) schedule();
}

void Watch::Session::start() {
  if (!callback_ || on_executor_) return;
  thread_ = QuietThread("sheaf-watch", [self = shared_from_this()] { self->run(); });
}

void Watch::Session::stop() noexcept {
  const client::runtime::Context::Entry entry(service_->context);
  const auto refused = service_->context.refusal(false);
  if (refused && refused->reason == Reason::forked) {
    // The thread is not here, and nobody will let go of the mutex.
    static_cast<void>(new QuietThread(std::move(thread_)));
    static_cast<void>(new std::shared_ptr<Session>(shared_from_this()));
    return;
  }
  if (!refused) {
    client::calls::post(service_->context.lane(), [self = shared_from_this()](Now now) {
      self->service_->sessions.remove(self, now);
    });
  }
  bool inside = false;
  {
    const sync::MutexLock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    inside = !wait_for_callback();
  }
  if (!thread_.joinable()) return;
  if (inside) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

// ---- Watch

std::string_view to_string(WatchEvent::Kind kind) noexcept {
  switch (kind) {
    case WatchEvent::Kind::current:
      return "current";
    case WatchEvent::Kind::set:
      return "set";
    case WatchEvent::Kind::deleted:
      return "deleted";
    case WatchEvent::Kind::changed:
      return "changed";
    case WatchEvent::Kind::gap:
      return "gap";
    case WatchEvent::Kind::failed:
      return "failed";
  }
  return "changed";
}

Watch::Watch(std::shared_ptr<Session> session) noexcept : session_(std::move(session)) {}
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&& other) noexcept {
  if (this == &other) return *this;
  if (session_ != nullptr) session_->stop();
  session_ = std::move(other.session_);
  return *this;
}
Watch::~Watch() {
  if (session_ != nullptr) session_->stop();
}

Result<std::optional<WatchEvent>> Watch::next(const NextOptions& options) {
  if (session_ != nullptr) return session_->take(options);
  return Failure(local_error(Outcome::invalid, Reason::bad_argument, "the watch was moved from"));
}

Result<std::optional<WatchEvent>> Watch::try_next() {
  return next({.wait = std::chrono::nanoseconds(0)});
}

const std::vector<std::string>& Watch::keys() const noexcept {
  static const std::vector<std::string> none;
  return session_ != nullptr ? session_->keys() : none;
}

}  // namespace v0
}  // namespace sheaf

namespace sheaf::client::watch {

void SessionRegistry::add(std::shared_ptr<Watch::Session> session, Now now) {
  if (shut_down_) return session->finish();
  session->begin(now);
  sessions_.push_back(std::move(session));
}

void SessionRegistry::remove(const std::shared_ptr<Watch::Session>& session, Now now) {
  if (std::erase(sessions_, session) > 0) session->end_watching(now);
}

SessionRegistry::Sessions SessionRegistry::shut_down(Now now) {
  shut_down_ = true;
  for (const auto& session : sessions_) {
    session->end_watching(now);
    session->finish();
  }
  return std::exchange(sessions_, {});
}

}  // namespace sheaf::client::watch
