#pragma once

// One watched key on one node: what to ask of the store next, and what to tell those who watch.
// Pure: it sees answers and notifications, and never a socket, a timer or a watcher.
//
// | state       | what happens                | then                          | next        |
// |-------------|-----------------------------|-------------------------------|-------------|
// | idle        | wanted, and the line is up  | asks to be told (watch)       | registering |
// | registering | done                        | tells gap if blind; may read  | registered  |
// | registering | refused                     | tells failed                  | refused     |
// | refused     | retry time, somebody joins  | asks to be told               | registering |
// | registered  | read wanted, or audit time  | asks for the value (read)     | registered  |
// | registered  | not wanted any more         | asks for the end (unwatch)    | stopping    |
// | stopping    | done or refused             |                               | idle        |
// | any         | the line ends               | blind since its last proof    | idle        |
//
// How order is kept. A notification counts only if its version is newer than the newest known (of a
// deletion: not older, for some stores give it the version of the value that is gone). One without
// a version says nothing of its place: the key is read instead. A read that nothing interrupted is
// the truth, whatever its version, because it began after everything known had happened; so a store
// that lost its memory is believed. One during which a notification counted is compared with that,
// and asked again if it cannot tell.
//
// An audit read now and then finds what a broker dropped without a word; it is told with a gap.
//
// Thread rule: one thread at a time.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "client/calls/watches.h"
#include "protocol/session.h"

namespace sheaf::client::watch {

struct WatchKeyOptions {
  protocol::CompareVersions compare = nullptr;
  // Between reads without an occasion; of large values up to 60 times that.
  std::chrono::nanoseconds audit = std::chrono::seconds(60);
  std::chrono::nanoseconds retry = std::chrono::seconds(10);  // after a refusal
  std::uint64_t hash_seed = 0;  // of values that come without a version
  // Off only in tests that show what this rule is for.
  bool drop_stale = true;
};

class WatchKey {
 public:
  enum class Ask : std::uint8_t { nothing, watch, read, unwatch };
  // News and for whom: those who hear of changes, those who first want to know what the key holds
  // (the news are `current`, and make them hear of changes), or both.
  struct Tell {
    enum class To : std::uint8_t { live, waiting, all };
    To to = To::live;
    calls::WatchNews news{};
  };
  class Tells {
   public:
    void add(Tell::To to, const calls::WatchNews& news) { tells_.at(size_++) = {to, news}; }
    std::span<const Tell> list() const { return std::span(tells_).first(size_); }

   private:
    std::array<Tell, 3> tells_{};
    std::size_t size_ = 0;
  };

  explicit WatchKey(const WatchKeyOptions& options) : options_(options) {}

  // Somebody watches. With `current` it waits for the read whose number is returned, or a later
  // one.
  std::uint64_t join(calls::WatchStart start);
  // Nobody watches any more: what was known is forgotten.
  void leave();

  // What it wants to ask now; at most one question is open. asked() says that it was sent.
  Ask next_ask(Now now) const;
  void asked(Now now);
  Ask open_question() const noexcept { return open_; }
  Deadline poll_deadline() const;
  // Nothing is registered and nothing asked: the object may go.
  bool idle() const noexcept {
    return !wanted_ && state_ != State::registered && open_ == Ask::nothing;
  }

  // The line.
  void on_line_up();
  void on_line_down(Now proof);
  Tells on_line_failed(const Error& error);

  // How the open question ended. Views live as long as those of the arguments.
  Tells on_watching(Now now);
  Tells on_read(const std::optional<std::string_view>& value, std::string_view version, Now now);
  void on_unwatched();
  Tells on_refused(const Error& error, bool permanent, Now now);
  void on_lost();  // no answer will come: the line ends
  // The number of the read that is or was asked last.
  std::uint64_t reads() const noexcept { return reads_; }

  Tells on_notification(const protocol::Notification& notification, Now now);

 private:
  enum class State : std::uint8_t { idle, registering, registered, refused, stopping };
  enum class Held : std::uint8_t { unknown, absent, present };
  enum class Verdict : std::uint8_t { stale, agrees, news, again };

  void tell_gap(Tells& tells, Now until);
  bool counts(const protocol::Notification& notification) const;
  void accept(Held held, std::string_view version, const std::optional<std::string_view>& value);
  bool differs(const std::optional<std::string_view>& value, std::string_view version) const;
  Verdict judge(const std::optional<std::string_view>& value, std::string_view version) const;
  void tell_change(Tells& tells, const std::optional<std::string_view>& value,
                   std::string_view version, Now now);
  void tell_current(Tells& tells, Verdict verdict, const std::optional<std::string_view>& value,
                    std::string_view version);
  void want_read(bool change_expected);

  WatchKeyOptions options_;
  State state_ = State::idle;
  Ask open_ = Ask::nothing;
  bool wanted_ = false;
  bool line_up_ = false;
  bool failed_told_ = false;  // in this outage

  // What is known of the key.
  Held held_ = Held::unknown;
  std::string version_;  // the newest known; of the value, or of its removal
  std::uint64_t value_hash_ = 0;

  std::optional<Now> blind_since_;
  bool after_gap_ = false;       // what the next read finds was missed in a gap that has been told
  bool settled_ = false;         // a read has ended since the registration
  bool expects_change_ = false;  // a notification could not be used: the read will differ
  Now sure_at_;                  // all that happened before is known or was told as a gap

  std::uint64_t reads_ = 0;   // begun
  std::uint64_t needed_ = 0;  // the read that the latest of those who wait needs
  bool read_wanted_ = false;
  bool heard_ = false;      // during the open read a notification counted
  bool heard_set_ = false;  // and it was a set
  bool again_ = false;      // and one could not be placed
  Now read_sent_;
  Deadline retry_at_{0};
  Deadline read_at_{0};
  Deadline audit_at_ = never;
};

}  // namespace sheaf::client::watch
