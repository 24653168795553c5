#include "extras/leader/pauses.h"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "base/read_clocks.h"
#include "base/stop_callback.h"
#include "base/this_thread.h"

namespace sheaf::leader {

struct Pauses::Core {
  sync::Mutex mutex;
  sync::CondVar changed;
  std::list<std::unique_ptr<Pause>> pauses SHEAF_GUARDED_BY(mutex);
  bool closing SHEAF_GUARDED_BY(mutex) = false;
  const ThisThread* runner SHEAF_GUARDED_BY(mutex) = nullptr;

  // The next pause that is over; null: the object is closing.
  std::unique_ptr<Pause> next();
  void run();
};

struct Pauses::Pause final : StopHandler {
  Pause(Core& owner, Deadline until, Job what) : core(owner), due(until), job(std::move(what)) {}
  void on_stop_requested() noexcept override {
    const sync::MutexLock lock(core.mutex);
    due = Deadline{0};
    core.changed.notify_all();
  }

  Core& core;
  Deadline due;  // guarded by the mutex
  Job job;
  std::optional<StopCallback> on_stop;
};

std::unique_ptr<Pauses::Pause> Pauses::Core::next() {
  const sync::MutexLock lock(mutex);
  runner = &this_thread();
  for (;;) {
    const auto first = std::ranges::min_element(pauses, {}, &Pause::due);
    if (first == pauses.end()) {
      if (closing) return nullptr;
      changed.wait(mutex);
    } else if ((*first)->due <= read_monotonic()) {
      auto over = std::move(*first);
      pauses.erase(first);
      return over;
    } else {
      changed.wait_until(mutex, (*first)->due);
    }
  }
}

void Pauses::Core::run() {
  while (const auto over = next()) {
    over->on_stop.reset();
    over->job();
  }
}

Pauses::Pauses() : core_(std::make_shared<Core>()) {}

Pauses::~Pauses() {
  if (process_.forked()) {  // a forked child has no such thread, and its mutex may be held
    if (thread_.joinable()) thread_.detach();
    return;
  }
  bool here = false;
  {
    const sync::MutexLock lock(core_->mutex);
    core_->closing = true;
    here = core_->runner == &this_thread();
    core_->changed.notify_all();
  }
  if (!thread_.joinable()) return;
  here ? thread_.detach() : thread_.join();
}

void Pauses::after(std::chrono::nanoseconds time, const std::stop_token& stop, Job job) {
  auto pause = std::make_unique<Pause>(*core_, read_monotonic() + time, std::move(job));
  pause->on_stop.emplace(stop, *pause);
  {
    const sync::MutexLock lock(core_->mutex);
    if (!thread_.joinable()) {
      thread_ = QuietThread("sheaf-leader", [core = core_] { core->run(); });
    }
    core_->pauses.push_back(std::move(pause));
    core_->changed.notify_all();
  }
}

}  // namespace sheaf::leader
