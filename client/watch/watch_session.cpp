#include "client/watch/watch_session.h"

#include <algorithm>
#include <optional>

#include "base/notify_on_stop.h"
#include "base/read_clocks.h"
#include "client/calls/admit.h"
#include "client/calls/detached.h"
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

Error moved_from() {
  return local_error(Outcome::invalid, Reason::bad_argument, "the watch was moved from");
}

}  // namespace

// A wait for an event as a Work, for a caller that turns the lane meanwhile, or for a Call.
class Watch::Session::Waiter final : public ListHook<Waiter>, private socket::TimerSink {
 public:
  using Out = Next;
  static constexpr bool idles = true;

  Waiter(client::calls::WorkEnd& end, Session& session, Deadline until)
      : end_(end), session_(session), until_(until) {}

  void start(Now now) {
    out_ = session_.taken_now();
    if (!out_ && now.mono >= until_) out_.emplace(std::optional<WatchEvent>());
    if (out_) return end_.ended();
    session_.waiters_.push_back(*this);
    if (until_ == never) return;
    timer_ = session_.service_->context.path().loop().timer(*this);
    timer_->set(until_);
  }
  void cancel(Now) { finish(Failure(client::calls::cancelled_error())); }
  void finish(Next out) {
    session_.waiters_.remove(*this);
    timer_.reset();
    out_.emplace(std::move(out));
    end_.ended();
  }
  Out take() { return std::move(*out_); }

 private:
  void on_timer(Now) override { finish(std::optional<WatchEvent>()); }

  client::calls::WorkEnd& end_;
  Session& session_;
  const Deadline until_;
  std::unique_ptr<socket::Timer> timer_;
  std::optional<Out> out_;
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
  serve_waiters();
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

// Posts a job to the dispatcher, which runs the callbacks of one client one after another.
void Watch::Session::schedule() {
  service_->context.dispatcher().post([self = shared_from_this()] { self->run_one(); });
}

void Watch::Session::finish() {
  {
    const sync::MutexLock lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }
  serve_waiters();
}

// Gives each waiter, oldest first, an event or the error that ends the watch, while there is one.
void Watch::Session::serve_waiters() {
  while (Waiter* const waiter = waiters_.front()) {
    auto out = taken_now();
    if (!out) return;
    waiter->finish(*std::move(out));
  }
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

// The reason that no event can be taken, if any.
std::optional<Error> Watch::Session::refusal(Stop stop) const {
  // A forked child may find the mutex locked forever.
  if (auto refused = service_->context.refusal(false);
      refused && refused->reason == Reason::forked) {
    return refused;
  }
  if (callback_) {
    return local_error(Outcome::invalid, Reason::bad_argument,
                       "this watch has a callback, which takes its events");
  }
  if (stop != nullptr && stop->stop_requested()) return client::calls::cancelled_error();
  return std::nullopt;
}

Watch::Session::Next Watch::Session::take(const NextOptions& options) {
  if (auto refused = refusal(options.stop)) return Failure(std::move(*refused));
  const Deadline until = client::calls::end_of(options.wait, read_monotonic());
  return service_->context.has_driver() ? turn_for_event(options, until)
                                        : sleep_for_event(options, until);
}

Call<Watch::Session::Next> Watch::Session::take_later(const std::shared_ptr<Session>& session,
                                                      const NextOptions& options,
                                                      const ResumeHook& hook) {
  return client::calls::prepare<Next, Waiter>(
      {session->service_, session->service_->context, hook}, options.stop,
      [session, wait = options.wait](client::runtime::Context& context, Stop stop, auto way) {
        if (auto refused = session->refusal(stop)) return way.refuse(context, std::move(*refused));
        if (auto out = session->taken_now()) return way.give(context, *std::move(out));
        if (auto refused = context.refusal(false)) return way.refuse(context, std::move(*refused));
        way.template run<Waiter>(context, stop, client::calls::AsItIs(), *session,
                                 client::calls::end_of(wait, read_monotonic()));
      });
}

// The next event, or the error that ends the watch; nothing if there is neither.
std::optional<Watch::Session::Next> Watch::Session::taken() {
  if (stopped_) {
    return Failure(local_error(Outcome::shutdown, Reason::closed, "the watch has ended"));
  }
  if (auto event = buffer_.pop(wall_time(read_clocks()))) return event;
  if (!finished_) return std::nullopt;
  return Failure(local_error(Outcome::shutdown, Reason::closed, "the client was closed"));
}

std::optional<Watch::Session::Next> Watch::Session::taken_now() {
  const sync::MutexLock lock(mutex_);
  return taken();
}

Watch::Session::Next Watch::Session::sleep_for_event(const NextOptions& options, Deadline until) {
  const NotifyOnStop notify(options.stop, mutex_, changed_);
  const sync::MutexLock lock(mutex_);
  while (!finished_ && buffer_.empty() && !notify.stopped() && changed_.wait_until(mutex_, until)) {
  }
  if (auto out = taken()) return *std::move(out);
  if (notify.stopped()) return Failure(client::calls::cancelled_error());
  return std::optional<WatchEvent>();
}

Watch::Session::Next Watch::Session::turn_for_event(const NextOptions& options, Deadline until) {
  client::runtime::Context& context = service_->context;
  const client::runtime::Context::Entry entry(context);
  if (auto out = taken_now()) return *std::move(out);
  if (read_monotonic() >= until) return std::optional<WatchEvent>();
  if (auto refused = context.refusal(true)) return Failure(std::move(*refused));
  return client::calls::Blocking<Waiter>(context.lane(), client::calls::HowToWait(), *this, until)
      .wait(options.stop);
}

// Takes one event and calls back with the mutex unlocked.
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

// Each task handles one event, so that many watches share an executor fairly.
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
    // A forked child has no such thread, and may find the mutex locked forever: leak both.
    static_cast<void>(new QuietThread(std::move(thread_)));
    static_cast<void>(new std::shared_ptr<Session>(shared_from_this()));
    return;
  }
  {
    const sync::MutexLock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  if (!refused) {
    client::calls::post(service_->context.lane(), [self = shared_from_this()](Now now) {
      self->service_->sessions.remove(self, now);
      self->serve_waiters();
    });
  }
  bool inside = false;
  {
    const sync::MutexLock lock(mutex_);
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
  return Failure(moved_from());
}

Result<std::optional<WatchEvent>> Watch::try_next() {
  return next({.wait = std::chrono::nanoseconds(0)});
}

AsyncWatch Watch::async() const { return {session_, {}}; }

Call<Result<std::optional<WatchEvent>>> AsyncWatch::next(const NextOptions& options) const {
  if (session_ != nullptr) return Watch::Session::take_later(session_, options, hook_);
  return client::calls::settled<Watch::Session::Next>(Failure(moved_from()), hook_);
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
