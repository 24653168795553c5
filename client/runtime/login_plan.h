#pragma once

// LoginPlan: when a source of credentials is asked, and what becomes of its answers. Inputs and
// time come in, decisions are pulled.
//
//   input                                        what is decided
//   a connection is about to be made             the source is asked, unless it is being asked
//   the source answers with another login        new connections use it. Those that stand renew
//                                                theirs if it was asked for that, or if it changes
//                                                its answer only for good (a file)
//   80 % of the time until the end is over       it is asked; again and again if it fails
//   a server refuses the login                   it is asked, once for each login
//   the end                                      connections that stand renew their login if there
//                                                is a newer one, else nobody logs in
//
// A callback may give another token each time that it is asked, so what is asked for a connection
// renews no other: connections that are replaced for another login would have others replaced.
//
// An answer that comes when every connection has given up waiting for it serves the next one, so
// that a source that is slower than a connection may wait is of use.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>

#include <sheaf/credentials.h>

#include "base/clock.h"
#include "protocol/login.h"

namespace sheaf::client::runtime {

// What has to be told to the sessions.
enum class Publish : std::uint8_t {
  nothing,
  for_new,  // another login holds for connections that are made from now on
  for_all   // and those that stand renew theirs
};

class LoginPlan {
 public:
  enum class Kind : std::uint8_t {
    callback,  // any answer is as good as any other
    file       // the latest answer is the one that is right
  };
  explicit LoginPlan(Kind kind) noexcept : kind_(kind) {}

  // Inputs.
  // A connection is about to be made. False: the present login is for it. True: it waits for the
  // next answer.
  bool on_connect(Now now) noexcept;
  void on_wait_over() noexcept;  // one of those that waited gave up
  void on_refused() noexcept;    // a server did not take the present login
  void on_change() noexcept;     // the source has something else to say
  void on_time(Now now) noexcept;
  // What was asked for is answered. False: the login had ended before it came, which is a failure.
  bool on_answer(protocol::SharedLogin login, std::optional<std::chrono::milliseconds> ends_at_wall,
                 Now now);
  void on_failure(Now now) noexcept;

  // Outputs. Pulled after each input.
  std::optional<CredentialNeed> take_asking() noexcept;  // the source is to be asked now
  Publish take_publication() noexcept { return std::exchange(publish_, Publish::nothing); }
  // When on_time() is to be called.
  Deadline next() const noexcept;

  // Null: nobody can log in.
  const protocol::SharedLogin& present() const noexcept { return present_; }

  // An answer that nobody waited for serves one connection within this.
  static constexpr std::chrono::seconds spare_life{10};

 private:
  void want(CredentialNeed need) noexcept;
  void retry_later(Now now) noexcept;

  const Kind kind_;
  protocol::SharedLogin present_;
  Deadline present_ends_ = never;
  Deadline oldest_ends_ = never;  // of the logins of connections that stand
  bool mixed_ = false;            // some of them may have another login than the present one
  bool refused_ = false;          // the present login was
  bool failing_ = true;           // no answer, or the last one was none
  unsigned waiting_ = 0;
  Deadline spare_until_{0};
  Deadline renew_at_ = never;
  std::chrono::nanoseconds pause_{0};     // before the next attempt to renew
  std::optional<CredentialNeed> asked_;   // the source works on it
  std::optional<CredentialNeed> wanted_;  // it is to be asked next
  Publish publish_ = Publish::nothing;
};

}  // namespace sheaf::client::runtime
