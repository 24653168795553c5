#include "client/runtime/event_log.h"

#include <cstdio>

#include "base/hash.h"
#include "base/text.h"

namespace sheaf::client::runtime {

EventForwarder::EventForwarder(LogSink sink, bool show_keys, Dispatcher& dispatcher)
    : sink_(sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr),
      show_keys_(show_keys),
      dispatcher_(dispatcher) {}

void EventForwarder::record(LogRecord record) {
  if (!listening()) return;
  if (queued_->load(std::memory_order_relaxed) >= max_queued) {
    ++dropped_;
    return;
  }
  if (const std::uint64_t dropped = dropped_.exchange(0); dropped > 0) {
    record.text += " (" + std::to_string(dropped) + " records before this one were dropped)";
  }
  queued_->fetch_add(1, std::memory_order_relaxed);
  dispatcher_.post([sink = sink_, queued = queued_, r = std::move(record)] {
    queued->fetch_sub(1, std::memory_order_relaxed);
    (*sink)(r);
  });
}

std::string EventForwarder::show_key(std::string_view key) const {
  if (key.empty()) return {};
  if (show_keys_) return printable(key, 64);
  char text[20];
  std::snprintf(text, sizeof text, "#%016llx", static_cast<unsigned long long>(hash64(key)));
  return text;
}

}  // namespace sheaf::client::runtime
