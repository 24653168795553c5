#include "client/runtime/event_log.h"

#include <cstdio>

#include "base/hash.h"
#include "base/read_clocks.h"
#include "base/text.h"

namespace sheaf::client::runtime {

std::optional<std::uint64_t> Backlog::admit() noexcept {
  if (queued_->load(std::memory_order_relaxed) >= max_queued) {
    leave_out();
    return std::nullopt;
  }
  return left_out_.exchange(0);
}

EventForwarder::EventForwarder(Listeners listeners, std::string_view system, bool show_keys,
                               Dispatcher& dispatcher)
    : level_(listeners.level),
      rate_(listeners.rate),
      show_keys_(show_keys),
      dispatcher_(dispatcher),
      system_(system) {
  if (listeners.sink) sink_ = std::make_shared<const LogSink>(std::move(listeners.sink));
  if (listeners.observer.ended)
    observer_ = std::make_shared<const Observer>(std::move(listeners.observer));
}

// When the second changes, two threads may let a few more pass.
bool EventForwarder::within_rate(std::int64_t second) noexcept {
  if (second_.exchange(second, std::memory_order_relaxed) != second)
    of_second_.store(0, std::memory_order_relaxed);
  return of_second_.fetch_add(1, std::memory_order_relaxed) < rate_;
}

void EventForwarder::record(LogRecord record) {
  if (!listening() || record.level < level_) return;
  const std::chrono::milliseconds wall = read_clocks().wall;
  record.time = std::chrono::system_clock::time_point(wall);
  const bool too_many = record.outcome && !within_rate(wall.count() / 1000);
  if (too_many) return records_.leave_out();
  const auto dropped = records_.admit();
  if (!dropped) return;
  if (*dropped > 0) {
    record.text += " (" + std::to_string(*dropped) + " records before this one were dropped)";
  }
  records_.post(dispatcher_, [sink = sink_, r = std::move(record)] { (*sink)(r); });
}

void EventForwarder::observe(RequestEvent event) {
  const auto missed = requests_.admit();
  if (!missed) return;
  event.system = system_;
  event.start = std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(read_clocks().wall -
                                                                      event.elapsed));
  requests_.post(dispatcher_, [observer = observer_, e = std::move(event), missed = *missed] {
    observer->ended(e, missed);
  });
}

std::shared_ptr<void> EventForwarder::parent() const noexcept {
  std::shared_ptr<void> parent;
  if (observer_ != nullptr && observer_->parent)
    dispatcher_.run_guarded([&] { parent = observer_->parent(); });
  return parent;
}

std::string EventForwarder::show_key(std::string_view key) const {
  if (key.empty()) return {};
  if (show_keys_) return printable(key, 64);
  char text[20];
  std::snprintf(text, sizeof text, "#%016llx", static_cast<unsigned long long>(hash64(key)));
  return text;
}

}  // namespace sheaf::client::runtime
