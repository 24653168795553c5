#pragma once

// Forwards log records from a given level up to the user's sink, through the dispatcher. At most
// 10,000 wait, and at most `rate` of those about operations are accepted per second. Beyond that,
// records are dropped, and the next record says how many. Events of requests reach the user's
// observer the same way, with 10,000 of their own.
//
// Thread rule: any thread.

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "client/runtime/dispatcher.h"
#include "node/event_log.h"

namespace sheaf::client::runtime {

// Bounds how many jobs of one kind wait in the dispatcher, and counts those left out.
class Backlog {
 public:
  // Empty if too many wait: this one is left out, too. Else how many were left out before.
  std::optional<std::uint64_t> admit() noexcept;
  void leave_out() noexcept { ++left_out_; }
  // Only after admit().
  template <class Job>
  void post(Dispatcher& dispatcher, Job job) {
    queued_->fetch_add(1, std::memory_order_relaxed);
    dispatcher.post([queued = queued_, job = std::move(job)] {
      queued->fetch_sub(1, std::memory_order_relaxed);
      job();
    });
  }

 private:
  static constexpr unsigned max_queued = 10'000;

  std::shared_ptr<std::atomic<unsigned>> queued_ = std::make_shared<std::atomic<unsigned>>(0);
  std::atomic<std::uint64_t> left_out_ = 0;
};

class EventForwarder final : public node::EventLog {
 public:
  struct Listeners {
    LogSink sink;
    LogLevel level = LogLevel::info;
    unsigned rate = 0;  // records about operations per second
    Observer observer;
  };
  // `system`: the servers' name in events.
  EventForwarder(Listeners listeners, std::string_view system, bool show_keys,
                 Dispatcher& dispatcher);

  bool listening() const noexcept override { return sink_ != nullptr; }
  void record(LogRecord record) override;
  std::string show_key(std::string_view key) const override;
  bool observing() const noexcept override { return observer_ != nullptr; }
  void observe(RequestEvent event) override;
  // The observer's parent for the requests of a call that starts on this thread.
  std::shared_ptr<void> parent() const noexcept;

 private:
  bool within_rate(std::int64_t second) noexcept;

  std::shared_ptr<const LogSink> sink_;  // null: no listener
  LogLevel level_;
  unsigned rate_;
  bool show_keys_;
  Dispatcher& dispatcher_;
  Backlog records_;
  std::atomic<std::int64_t> second_ = 0;  // the one being counted
  std::atomic<unsigned> of_second_ = 0;

  std::shared_ptr<const Observer> observer_;  // null: no observer
  std::string_view system_;
  Backlog requests_;
};

// Lets pass only records about a key, for paths other than the client's own: only that one reports
// on the nodes.
class KeyEvents final : public node::EventLog {
 public:
  explicit KeyEvents(node::EventLog& events) : events_(events) {}

  bool listening() const noexcept override { return events_.listening(); }
  void record(LogRecord record) override {
    if (!record.key.empty()) events_.record(std::move(record));
  }
  std::string show_key(std::string_view key) const override { return events_.show_key(key); }
  bool observing() const noexcept override { return events_.observing(); }
  void observe(RequestEvent event) override { events_.observe(std::move(event)); }

 private:
  node::EventLog& events_;
};

}  // namespace sheaf::client::runtime
