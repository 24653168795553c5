#pragma once

// Forwards log records of a level and above to the user's sink through the dispatcher. At most
// `max_queued` wait, and of those about operations `rate` come in a second; beyond that records are
// dropped and the next one says how many.
//
// Thread rule: any thread.

#include <atomic>
#include <memory>

#include "client/runtime/dispatcher.h"
#include "node/event_log.h"

namespace sheaf::client::runtime {

class EventForwarder final : public node::EventLog {
 public:
  EventForwarder(LogSink sink, LogLevel level, unsigned rate, bool show_keys,
                 Dispatcher& dispatcher);

  bool listening() const noexcept override { return sink_ != nullptr; }
  void record(LogRecord record) override;
  std::string show_key(std::string_view key) const override;

 private:
  static constexpr unsigned max_queued = 10'000;

  bool within_rate(std::int64_t second) noexcept;

  std::shared_ptr<const LogSink> sink_;  // null: nobody listens
  LogLevel level_;
  unsigned rate_;
  bool show_keys_;
  Dispatcher& dispatcher_;
  std::shared_ptr<std::atomic<unsigned>> queued_ = std::make_shared<std::atomic<unsigned>>(0);
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<std::int64_t> second_ = 0;  // the one that is counted
  std::atomic<unsigned> of_second_ = 0;
};

// Takes only what concerns a key, for paths that are not the client's own: of the nodes that one
// speaks.
class KeyEvents final : public node::EventLog {
 public:
  explicit KeyEvents(node::EventLog& events) : events_(events) {}

  bool listening() const noexcept override { return events_.listening(); }
  void record(LogRecord record) override {
    if (!record.key.empty()) events_.record(std::move(record));
  }
  std::string show_key(std::string_view key) const override { return events_.show_key(key); }

 private:
  node::EventLog& events_;
};

}  // namespace sheaf::client::runtime
