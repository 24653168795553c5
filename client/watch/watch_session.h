#pragma once

// Watch::Session: the implementation of a Watch. Its queue is filled under the baton, and drained
// by the user's thread, by calls of AsyncWatch, or by a thread that runs the callbacks. A caller
// that waits for an event sleeps or, if a driver replaces the client's threads, turns the lane.
// SessionRegistry holds all sessions of a client and keeps them alive while updates may come.
//
// An event leaves the queue at the moment when the call that returns it ends, so a cancelled call
// takes no event.

#include <vector>

#include <sheaf/async.h>

#include "base/intrusive_list.h"
#include "base/mutex.h"
#include "base/quiet_thread.h"
#include "base/this_thread.h"
#include "client/calls/watches.h"
#include "client/watch/watch_buffer.h"

namespace sheaf {
namespace client::watch {
struct WatchService;
}
inline namespace v0 {

// Thread rule: any thread; on_update, begin and end_watching under the baton.
class Watch::Session final : public std::enable_shared_from_this<Session>,
                             private client::calls::WatchSink {
 public:
  Session(std::shared_ptr<client::watch::WatchService> service, std::vector<std::string> keys,
          const WatchOptions& options, WatchCallback callback);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<std::string>& keys() const noexcept { return keys_; }

  // Starts the thread that runs the callbacks, if there are any and no executor runs them. May
  // throw std::system_error.
  void start();
  void begin(Now now);
  void end_watching(Now now);
  // The client is closed: queued events can still be taken, but no callback begins.
  void finish();
  // Call after finish(), without the baton: waits for a running callback, unless it is the caller.
  void finish_callback();
  // The Watch is destroyed or overwritten: no callback runs afterwards, except one that is the
  // caller.
  void stop() noexcept;

  using Next = Result<std::optional<WatchEvent>>;
  Next take(const NextOptions& options);
  static Call<Next> take_later(const std::shared_ptr<Session>& session, const NextOptions& options,
                               const ResumeHook& hook);

 private:
  class Waiter;
  void on_update(std::string_view key, const client::calls::WatchUpdate& update, Now now) override;
  void queue(WatchEvent event, Now now);
  void run();
  void run_one();
  void schedule();
  bool call_one() SHEAF_REQUIRES(mutex_);
  std::optional<Error> refusal(Stop stop) const;
  std::optional<Next> taken() SHEAF_REQUIRES(mutex_);
  std::optional<Next> taken_now();
  Next sleep_for_event(const NextOptions& options, Deadline until);
  Next turn_for_event(const NextOptions& options, Deadline until);
  void serve_waiters();
  // Returns false if the callback runs on this thread.
  bool wait_for_callback() SHEAF_REQUIRES(mutex_);

  const std::shared_ptr<client::watch::WatchService> service_;
  const std::vector<std::string> keys_;
  const WatchCallback callback_;
  const bool on_executor_;  // else on a thread of our own

  sync::Mutex mutex_;
  sync::CondVar changed_;
  client::watch::WatchBuffer buffer_ SHEAF_GUARDED_BY(mutex_);
  bool finished_ SHEAF_GUARDED_BY(mutex_) = false;
  bool stopped_ SHEAF_GUARDED_BY(mutex_) = false;
  bool scheduled_ SHEAF_GUARDED_BY(mutex_) = false;  // a task is queued on the executor
  bool calling_ SHEAF_GUARDED_BY(mutex_) = false;
  const ThisThread* caller_ SHEAF_GUARDED_BY(mutex_) = nullptr;
  QuietThread thread_;
  IntrusiveList<Waiter> waiters_;  // oldest first; under the baton
};

}  // namespace v0
}  // namespace sheaf

namespace sheaf::client::watch {

// See above. Thread rule: under the baton.
class SessionRegistry {
 public:
  using Sessions = std::vector<std::shared_ptr<Watch::Session>>;

  void add(std::shared_ptr<Watch::Session> session, Now now);
  void remove(const std::shared_ptr<Watch::Session>& session, Now now);
  // Ends all sessions and returns them. No update follows.
  Sessions shut_down(Now now);

 private:
  bool shut_down_ = false;
  Sessions sessions_;  // in the order in which they began
};

}  // namespace sheaf::client::watch
