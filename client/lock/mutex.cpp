// Mutex: a standard mutex over a Locker. Threads that share the object queue for it first; then the
// thread in front asks the store.

#include "base/mutex.h"

#include <algorithm>
#include <stop_token>
#include <system_error>
#include <utility>

#include <sheaf/locker.h>

#include "base/read_clocks.h"
#include "client/calls/admit.h"

namespace sheaf {
inline namespace v0 {
namespace {

using std::chrono::nanoseconds;

std::errc errc_of(const Error& error) noexcept {
  switch (error.outcome) {
    case Outcome::not_sent:
    case Outcome::unknown:
    case Outcome::overloaded:
      return std::errc::host_unreachable;
    case Outcome::refused:
      return std::errc::permission_denied;
    case Outcome::shutdown:
      return std::errc::operation_canceled;
    case Outcome::invalid:
    case Outcome::unsupported:
      break;
  }
  return std::errc::invalid_argument;
}

}  // namespace

struct Mutex::State {
  State(const Locker& its_locker, std::string lock_name)
      : locker(its_locker), name(std::move(lock_name)) {}

  Locker locker;
  const std::string name;
  sync::Mutex mutex;
  sync::CondVar free;
  bool taken SHEAF_GUARDED_BY(mutex) = false;  // by a thread that asks for the lock or holds it
  std::optional<LockGuard> guard SHEAF_GUARDED_BY(mutex);  // of the thread that holds the lock
};

Mutex::Mutex(Client& client, std::string name, LockerOptions options)
    : state_(std::make_unique<State>(Locker(client, std::move(options)), std::move(name))) {}
Mutex::~Mutex() = default;

// Waits for the other threads of this object; without `time`, forever. Returns false when the time
// is over or the token was stopped.
bool Mutex::enter(std::optional<nanoseconds> time, Stop stop) {
  const Deadline until = client::calls::end_of(time, read_monotonic());
  const auto wake = [state = state_.get()] {
    const sync::MutexLock lock(state->mutex);
    state->free.notify_all();
  };
  std::optional<std::stop_callback<decltype(wake)>> when_stopped;
  if (stop) when_stopped.emplace(*stop, wake);
  const sync::MutexLock lock(state_->mutex);
  while (state_->taken) {
    if (stop && stop->stop_requested()) return false;
    // This thread may be the only one that leave() woke, so look once more after a time-out.
    if (!state_->free.wait_until(state_->mutex, until) && state_->taken) return false;
  }
  return state_->taken = true;
}

// The calling thread holds the lock now.
void Mutex::keep(LockGuard guard) {
  const sync::MutexLock lock(state_->mutex);
  state_->guard.emplace(std::move(guard));
}

// Lets the next thread try.
void Mutex::leave() {
  const sync::MutexLock lock(state_->mutex);
  state_->taken = false;
  state_->free.notify_one();
}

void Mutex::lock() { static_cast<void>(lock_unless(nullptr)); }

bool Mutex::lock(const std::stop_token& stop) { return lock_unless(&stop); }

bool Mutex::lock_unless(Stop stop) {
  if (!enter(std::nullopt, stop)) return false;
  for (;;) {
    LockResult got = state_->locker.lock(state_->name, {.stop = stop});
    if (got.held()) {
      keep(std::move(*got));
      return true;
    }
    if (got.busy()) continue;  // the longest wait is over
    leave();
    if (got.error().reason == Reason::cancelled) return false;
    throw std::system_error(std::make_error_code(errc_of(got.error())), got.error().message());
  }
}

bool Mutex::try_lock() { return try_lock_within(nanoseconds(0)); }

bool Mutex::try_lock_within(nanoseconds time) {
  const Deadline started = read_monotonic();
  if (!enter(std::max(time, nanoseconds(0)), nullptr)) return false;
  const nanoseconds left = time - (read_monotonic() - started);
  LockResult got = state_->locker.lock(state_->name, {.wait = std::max(left, nanoseconds(0))});
  if (got.held()) {
    keep(std::move(*got));
  } else {
    leave();
  }
  return got.held();
}

void Mutex::unlock() {
  std::optional<LockGuard> guard;
  {
    const sync::MutexLock lock(state_->mutex);
    guard.swap(state_->guard);
  }
  if (guard) static_cast<void>(guard->release());
  leave();
}

bool Mutex::held() const {
  const sync::MutexLock lock(state_->mutex);
  return state_->guard && state_->guard->held();
}

// The calling thread holds the lock, so no other thread changes the guard meanwhile.
LockGuard& Mutex::guard() SHEAF_UNCHECKED { return *state_->guard; }

}  // namespace v0
}  // namespace sheaf
