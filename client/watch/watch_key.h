#pragma once

// WatchKey: one watched key on one node. It decides which request to send next, and what to report
// to those who watch the key. It sees answers and notifications, and never a timer or a watcher.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Two machines. The registration: whether the node sends notifications of the key.
//
// | registration | input                        | then                          | next        |
// |--------------|------------------------------|-------------------------------|-------------|
// | offline      | the line is up               |                               | idle        |
// | idle         | somebody watches             | sends watch                   | registering |
// | registering  | a notification overtakes     | reports the gap, if any       | confirmed   |
// |              | the answer                   |                               |             |
// | registering, | done                         | reports the gap, if any; then | registered  |
// | confirmed    |                              | wants a read                  |             |
// | registering, | refused                      | reports failed                | refused     |
// | confirmed    |                              |                               |             |
// | registering, | redirected                   |                               | refused,    |
// | confirmed    |                              |                               | for a       |
// |              |                              |                               | moment      |
// | registering  | lost                         |                               | idle        |
// | confirmed    | lost                         |                               | registered  |
// | refused      | retry time, somebody joins   | sends watch                   | registering |
// | registered   | nobody watches any more      | sends unwatch                 | stopping    |
// | stopping     | done, refused, lost          |                               | idle        |
// | any          | the line is down             | a gap begins if it was        | offline     |
// |              |                              | registered                    |             |
// | registered   | watchers come from the node  | reports the gap, wants a read |             |
// |              | that had the key before      |                               |             |
//
// The reading: whether the value has to be read. Reads are sent only while registered.
//
// | reading      | input                        | then                          | next        |
// |--------------|------------------------------|-------------------------------|-------------|
// | none         | somebody wants the value; a  |                               | wanted      |
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
// How order is kept. A notification counts only if its version is newer than the newest known one.
// (That of a deletion may be equal: some stores give it the version of the value that is gone.) A
// notification without a version says nothing about its place in the order: the key is read
// instead. A read during which no notification counted is the truth, whatever its version, because
// it began after everything known had happened; so a store that lost its memory is believed. A
// read during which a notification counted is compared with that notification, and repeated if the
// two cannot be compared.
//
// What a read finds may be no surprise: see Basis. A difference that nobody announced is reported
// with a gap. That is how an audit, a read now and then, finds what a broker dropped silently.
//
// Some nodes send no notifications: their keys are polled. Then reads are as frequent as `poll`,
// and a difference is what they are for. Others say only that a key was touched, and no more of it
// before it has been read. On both, changes that follow one another quickly are one.
//
// A node may send a request elsewhere, because the key has left it or nobody serves it. The request
// is repeated soon, here or where the key is by then; watchers hear of it only if that goes on for
// `patience`.
//
// A key that gets another node becomes another object, which takes over what is known of the value
// and not its version: versions of two nodes cannot be compared.
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

// Rules that only tests switch off, to show what is lost then.
struct WatchControls {
  bool drop_stale = true;  // notifications with old versions do not count
};

struct WatchKeyOptions {
  protocol::CompareVersions compare = nullptr;
  // Between two reads without an occasion; for large values up to 60 times as long.
  std::chrono::nanoseconds audit = std::chrono::seconds(60);
  std::chrono::nanoseconds poll = std::chrono::seconds(1);    // the same, where nobody notifies
  std::chrono::nanoseconds retry = std::chrono::seconds(10);  // after a refusal
  std::chrono::nanoseconds retry_elsewhere = std::chrono::milliseconds(100);  // after a redirect
  std::chrono::nanoseconds patience = std::chrono::seconds(10);               // with redirects
  std::uint64_t hash_seed = 0;  // for values that come without a version
  WatchControls controls{};
};

class WatchKey {
 public:
  enum class Request : std::uint8_t { none, watch, read, unwatch };
  // Whom a report is for.
  enum class Audience : std::uint8_t {
    live,     // watchers that are notified of changes
    waiting,  // watchers that wait for the current value; once they have it they are live
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

  // Somebody watches. With WatchStart::current the watcher waits for the read whose number is
  // returned, or for a later one.
  std::uint64_t join(calls::WatchStart start);
  // Nobody watches any more: what was known is forgotten.
  void leave();

  // The request to send now; at most one is open. sent() says that it was sent.
  Request next_request(Now now) const;
  void sent(Now now);
  Request open_request() const noexcept;
  Deadline poll_deadline() const;
  // Reads without an occasion come at least so far apart; from the next answer on.
  void set_pace(std::chrono::nanoseconds pace) noexcept { pace_ = pace; }
  // Nobody watches, nothing is registered and no request is open: the object may go.
  bool idle() const noexcept;

  // The line to the node.
  void on_line_up();
  // All that happened before `proof` was received.
  void on_line_down(Now proof);
  Reports on_line_failed(const Error& error);

  // The key had another node until now, and those who have just joined watched it there. They may
  // have missed what happened after `proof` (see on_line_down()), or after the line went down.
  Reports on_moved_here(const WatchKey& before, Now proof, Now now);

  // How the open request ended. Views in the reports live as long as those of the arguments.
  // `polls`: the node sends no notifications.
  Reports on_watching(Now now, bool polls = false);
  Reports on_read(const std::optional<std::string_view>& value, std::string_view version, Now now);
  void on_unwatched();
  Reports on_refused(const Error& error, bool permanent, Now now);
  Reports on_redirected(const Error& error, Now now);
  void on_lost();  // no answer will come: the line ends
  // The number of the latest read.
  std::uint64_t reads() const noexcept { return reads_; }
  // All that happened before is known, or in a reported gap, if the node owned the key.
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
  // What it means if the next read finds another state than the known one.
  enum class Basis : std::uint8_t {
    first,      // no read has ended since the registration: the start, or a change
    settled,    // a read has ended since: a change that nobody announced, so a gap
    announced,  // a notification said so, but not what
    missed      // it happened in a gap that has been reported
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
  bool wanted_ = false;  // somebody watches
  Registration registration_ = Registration::offline;
  Reading reading_ = Reading::none;
  Basis basis_ = Basis::first;
  bool outage_reported_ = false;  // this one
  bool polls_ = false;
  std::chrono::nanoseconds pace_{0};
  std::optional<Deadline> redirected_since_;  // and nothing was answered since

  // What is known of the key.
  Held held_ = Held::unknown;
  std::string version_;  // the newest known, of the value or of its removal
  std::uint64_t value_hash_ = 0;
  std::optional<Now> blind_since_;  // a gap that has not been reported yet
  Now sure_at_;                     // all that happened before is known, or in a reported gap

  std::uint64_t reads_ = 0;       // begun
  std::uint64_t useless_ = 0;     // this read, if it is the latest, began before watchers came
  std::uint64_t needed_ = 0;      // the read that the latest waiting watcher needs
  Heard heard_ = Heard::nothing;  // the notifications that counted during the open read
  Now read_sent_;
  Deadline retry_at_{0};
  Deadline read_at_{0};
  Deadline audit_at_ = never;
};

}  // namespace sheaf::client::watch
