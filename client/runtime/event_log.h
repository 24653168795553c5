#pragma once

// Forwards log records of a level and above to the user's sink through the dispatcher. At most
// 10,000 wait, and of those about operations `rate` come in a second; beyond that records are
// dropped and the next one says how many. Events of requests go to the user's observer the same
// way, of them 10,000 as well.
//
// Thread rule: any thread.

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "client/runtime/dispatcher.h"
#include "node/event_log.h"

namespace sheaf::client::runtime {

// How many jobs of one kind wait in the dispatcher: a bounded number. What is left out is counted.
class Backlog {
 public:
  // Nothing: too many wait, and one more is left out. Else how many were left out before.
  std::optional<std::uint64_t> admit() noexcept;
  void leave_out() noexcept { ++left_out_; }
  // After admit().
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
    unsigned rate = 0;  // of records about operations in a second
    Observer observer;
  };
  // `system`: what events call the servers.
  EventForwarder(Listeners listeners, std::string_view system, bool show_keys,
                 Dispatcher& dispatcher);

  bool listening() const noexcept override { return sink_ != nullptr; }
  void record(LogRecord record) override;
  std::string show_key(std::string_view key) const override;
  bool observing() const noexcept override { return observer_ != nullptr; }
  void observe(RequestEvent event) override;
  // What the observer wants to get back with the requests of a call that starts on this thread.
  std::shared_ptr<void> parent() const noexcept;

 private:
  bool within_rate(std::int64_t second) noexcept;

  std::shared_ptr<const LogSink> sink_;  // null: nobody listens
  LogLevel level_;
  unsigned rate_;
  bool show_keys_;
  Dispatcher& dispatcher_;
  Backlog records_;
  std::atomic<std::int64_t> second_ = 0;  // the one that is counted
  std::atomic<unsigned> of_second_ = 0;

  std::shared_ptr<const Observer> observer_;  // null: nobody wants events
  std::string_view system_;
  Backlog requests_;
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
  bool observing() const noexcept override { return events_.observing(); }
  void observe(RequestEvent event) override { events_.observe(std::move(event)); }

 private:
  node::EventLog& events_;
};

}  // namespace sheaf::client::runtime
