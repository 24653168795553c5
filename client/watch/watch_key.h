#pragma once

// WatchKey: one watched key on one node. It decides which request to send next, and what to report
// to the key's watchers. It handles answers and notifications, but no timers or watchers.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// There are two machines. The registration: does the node send notifications of the key?
//
// | registration | input                        | then                          | next        |
// |--------------|------------------------------|-------------------------------|-------------|
// | offline      | the line is up               |                               | idle        |
// | idle         | the key is watched           | sends watch                   | registering |
// | registering  | a notification overtakes     | reports the gap, if any       | confirmed   |
// |              | the answer                   |                               |             |
// | registering, | done                         | reports the gap, if any;      | registered  |
// | confirmed    |                              | wants a read after a gap, or  |             |
// |              |                              | if the key is polled          |             |
// | registering, | refused                      | reports failed                | refused     |
// | confirmed    |                              |                               |             |
// | registering, | redirected                   |                               | refused,    |
// | confirmed    |                              |                               | for a       |
// |              |                              |                               | moment      |
// | registering  | lost                         |                               | idle        |
// | confirmed    | lost                         |                               | registered  |
// | refused      | retry time, a watcher joins  | sends watch                   | registering |
// | registered   | the last watcher left        | sends unwatch                 | stopping    |
// | stopping     | done, refused, lost          |                               | idle        |
// | any          | the line is down             | a gap begins if it was        | offline     |
// |              |                              | registered                    |             |
// | registered   | watchers come from the node  | reports the gap, wants a read |             |
// |              | that had the key before      |                               |             |
//
// The reading: must the value be read? Reads are sent only while registered.
//
// | reading      | input                        | then                          | next        |
// |--------------|------------------------------|-------------------------------|-------------|
// | none         | a watcher wants the value; a |                               | wanted      |
// |              | gap was reported; a          |                               |             |
// |              | notification is not enough   |                               |             |
// | none         | audit time                   | sends read                    | open        |
// | wanted       | the time for it              | sends read                    | open        |
// | open         | a notification without a     |                               | repeat      |
// |              | known place                  |                               |             |
// | open         | a value                      | reports what is new           | none        |
// | repeat       | a value                      | reports what is new           | wanted      |
// | open, repeat | a value that may be older    |                               | wanted      |
// |              | than a notification; refused |                               |             |
// |              | or redirected (after a       |                               |             |
// |              | while); lost                 |                               |             |
//
// Order. A notification counts only if its version is newer than the newest known one. (A deletion
// may have the same version: some stores give it the version of the deleted value.) A notification
// without a version has no place in the order, so the key is read instead. If no notification
// counted during a read, its result is the truth, whatever its version, because it began after
// every known change; so a store that lost its memory is believed. If a notification counted during
// a read, the two are compared, and the read is repeated if that is not possible.
//
// A read may find a change that was expected: see Basis. An unannounced difference is reported with
// a gap. That is how an audit, a read now and then, finds changes that a broker dropped silently.
//
// Some nodes send no notifications, so their keys are polled: reads are as frequent as `poll`, and
// finding a difference is their purpose. Other nodes report only that a key was touched, and
// nothing more until it has been read. In both cases, changes in quick succession are reported as
// one.
//
// A node may redirect a request, because the key has moved or no node serves it. The request is
// repeated soon, at this node or at the key's new one; watchers get an error only if redirects
// continue for `patience`.
//
// A key that moves to another node becomes another object. It takes over what is known of the
// value, but not its version: versions of two nodes cannot be compared.
//
// Thread rule: one thread at a time.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "client/calls/watch_update.h"
#include "protocol/session.h"

namespace sheaf::client::watch {

// Rules that only tests switch off, to show what is lost without them.
struct WatchControls {
  bool drop_stale = true;  // notifications with old versions do not count
};

struct WatchKeyOptions {
  protocol::CompareVersions compare = nullptr;
  // The interval of routine reads (audits); for large values up to 60 times as long.
  std::chrono::nanoseconds audit = std::chrono::seconds(60);
  std::chrono::nanoseconds poll = std::chrono::seconds(1);    // the same, for keys that are polled
  std::chrono::nanoseconds retry = std::chrono::seconds(10);  // after a refusal
  std::chrono::nanoseconds retry_elsewhere = std::chrono::milliseconds(100);  // after a redirect
  std::chrono::nanoseconds patience = std::chrono::seconds(10);               // with redirects
  std::uint64_t hash_seed = 0;  // for values that come without a version
  WatchControls controls{};
};

class WatchKey {
 public:
  enum class Request : std::uint8_t { none, watch, read, unwatch };
  // The watchers that a report is for.
  enum class Audience : std::uint8_t {
    live,     // those that are notified of changes
    waiting,  // those that wait for the current value; once they have it they are live
    all
  };
  struct Report {
    Audience audience = Audience::live;
    calls::WatchUpdate update{};
  };
  class Reports {
   public:
    void add(Audience audience, const calls::WatchUpdate& update) {
      reports_.at(size_++) = {audience, update};
    }
    std::span<const Report> list() const { return std::span(reports_).first(size_); }

   private:
    std::array<Report, 3> reports_{};
    std::size_t size_ = 0;
  };

  explicit WatchKey(const WatchKeyOptions& options) : options_(options) {}

  // Adds a watcher. With WatchStart::current it waits for the read whose number is returned, or for
  // a later one.
  std::uint64_t join(calls::WatchStart start);
  // The last watcher has left: what was known is forgotten.
  void leave();

  // The request to send now; at most one is open. Call sent() once it was sent.
  Request next_request(Now now) const;
  void sent(Now now);
  Request open_request() const noexcept;
  Deadline poll_deadline() const;
  // The shortest interval of routine reads; applies from the next answer on.
  void set_pace(std::chrono::nanoseconds pace) noexcept { pace_ = pace; }
  // True if no watcher, registration or open request is left: the object may be destroyed.
  bool idle() const noexcept;

  // The line to the node.
  void on_line_up();
  // Everything that happened before `proof` was received.
  void on_line_down(Now proof);
  Reports on_line_failed(const Error& error);

  // The key was on another node until now, and its watchers there have just joined. They may have
  // missed changes after `proof` (see on_line_down()), or after the line went down.
  Reports on_moved_here(const WatchKey& before, Now proof, Now now);

  // The end of the open request. Views in the reports live as long as those of the arguments.
  // `polls`: the node sends no notifications.
  Reports on_watching(Now now, bool polls = false);
  Reports on_read(const std::optional<std::string_view>& value, std::string_view version, Now now);
  void on_unwatched();
  Reports on_refused(const Error& error, bool permanent, Now now);
  Reports on_redirected(const Error& error, Now now);
  void on_lost();  // no answer will come: the line ends
  // The number of the latest read.
  std::uint64_t reads() const noexcept { return reads_; }
  // Every change before it is known, or in a reported gap, if the node owned the key.
  Now sure_at() const noexcept { return sure_at_; }

  Reports on_notification(const protocol::Notification& notification, Now now);

 private:
  enum class Registration : std::uint8_t {
    offline,
    idle,
    registering,
    confirmed,
    registered,
    refused,
    stopping
  };
  enum class Reading : std::uint8_t { none, wanted, open, repeat };
  // The meaning of a difference between the next read and the known state.
  enum class Basis : std::uint8_t {
    first,      // no read has ended since the registration: the start, or a change
    settled,    // a read has ended since: an unannounced change, so a gap
    announced,  // a notification reported a change, but not the new state
    missed      // the change was in a reported gap
  };
  enum class Held : std::uint8_t { unknown, absent, present };
  enum class Heard : std::uint8_t { nothing, deletion, set };
  enum class Verdict : std::uint8_t { stale, same, changed, undecided };

  bool read_is_open() const { return reading_ == Reading::open || reading_ == Reading::repeat; }
  std::chrono::nanoseconds audit_interval() const {
    return std::max(polls_ ? options_.poll : options_.audit, pace_);
  }
  Deadline read_due() const { return reading_ == Reading::wanted ? read_at_ : audit_at_; }
  void want_read();
  void expect_change();
  void put_off(Deadline again);
  bool counts(const protocol::Notification& notification) const;
  void accept(Held held, std::string_view version, const std::optional<std::string_view>& value);
  bool differs(const std::optional<std::string_view>& value, std::string_view version) const;
  Verdict judge(const std::optional<std::string_view>& value, std::string_view version) const;
  void report_gap(Reports& reports, Now until);
  void report_change(Reports& reports, const std::optional<std::string_view>& value,
                     std::string_view version, Now now);
  void report_current(Reports& reports, Verdict verdict,
                      const std::optional<std::string_view>& value, std::string_view version);

  WatchKeyOptions options_;
  bool wanted_ = false;  // the key has watchers
  Registration registration_ = Registration::offline;
  Reading reading_ = Reading::none;
  Basis basis_ = Basis::first;
  bool outage_reported_ = false;  // the present outage
  bool polls_ = false;
  std::chrono::nanoseconds pace_{0};
  std::optional<Deadline> redirected_since_;  // no request was answered since then

  // What is known of the key.
  Held held_ = Held::unknown;
  std::string version_;  // the newest known, of the value or of its removal
  std::uint64_t value_hash_ = 0;
  std::optional<Now> blind_since_;  // start of a gap that has not been reported yet
  Now sure_at_;                     // every change before it is known, or in a reported gap

  std::uint64_t reads_ = 0;       // number of reads begun
  std::uint64_t useless_ = 0;     // this read, if the latest, began before watchers moved here
  std::uint64_t needed_ = 0;      // the read that the latest waiting watcher needs
  Heard heard_ = Heard::nothing;  // the notifications that counted during the open read
  Now read_sent_;
  Deadline retry_at_{0};
  Deadline read_at_{0};
  Deadline audit_at_ = never;
};

}  // namespace sheaf::client::watch
