#pragma once

// LoginPlan: decides when a source of credentials is asked, and how its answers are used. Inputs
// and time come in, decisions are pulled.
//
// | input                               | decision                                           |
// |-------------------------------------|----------------------------------------------------|
// | a connection is about to be made    | ask the source, unless it is being asked           |
// | the source gives another login      | new connections use it; open ones renew theirs if  |
// |                                     | it was asked for more than a connection, had       |
// |                                     | failed before, or is a file                        |
// | 80 % of the time to the end is over | ask; again and again while that fails              |
// | a server refuses the login          | ask, once for each login                           |
// | the end of the login                | open connections renew theirs if there is a newer  |
// |                                     | one; else nothing can log in                       |
//
// A callback may return another token each time it is asked. So a login asked for a new connection
// renews no other: connections replaced for another login would have others replaced.
//
// If every connection has given up waiting when an answer arrives, the next connection uses it. So
// a source slower than a connection may wait still works.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>

#include <sheaf/credentials.h>

#include "base/clock.h"
#include "protocol/login.h"

namespace sheaf::client::runtime {

// What the sessions must learn.
enum class Publish : std::uint8_t {
  nothing,
  for_new,  // new connections use another login
  for_all   // and open connections renew theirs
};

class LoginPlan {
 public:
  enum class Kind : std::uint8_t {
    callback,  // any answer is as good as any other
    file       // only the latest answer is right
  };
  explicit LoginPlan(Kind kind) noexcept : kind_(kind) {}

  // Inputs.
  // A connection is about to be made. True: it waits for the next answer. False: it uses the
  // present login.
  bool on_connect(Now now) noexcept;
  void on_wait_over() noexcept;  // a waiting connection gave up
  void on_refused() noexcept;    // a server refused the present login
  void on_change() noexcept;     // the source has another answer
  void on_time(Now now) noexcept;
  // The source has answered. False: the login had ended before it arrived, which is a failure.
  bool on_answer(protocol::SharedLogin login, std::optional<std::chrono::milliseconds> ends_at_wall,
                 Now now);
  void on_failure(Now now) noexcept;

  // Outputs. Pulled after each input.
  std::optional<CredentialNeed> take_asking() noexcept;  // ask the source now
  Publish take_publication() noexcept { return std::exchange(publish_, Publish::nothing); }
  // When on_time() must be called.
  Deadline next() const noexcept;

  // Null: nothing can log in.
  const protocol::SharedLogin& present() const noexcept { return present_; }

  // How long an answer that came too late for its connection may serve another one.
  static constexpr std::chrono::seconds spare_life{10};

 private:
  void want(CredentialNeed need) noexcept;
  void retry_later(Now now) noexcept;

  const Kind kind_;
  protocol::SharedLogin present_;
  Deadline present_ends_ = never;
  Deadline oldest_ends_ = never;  // the first end among the logins of open connections
  bool mixed_ = false;            // some of them may have another login than the present one
  bool refused_ = false;          // the present login was refused
  bool failing_ = true;           // no answer yet, or the last one failed
  unsigned waiting_ = 0;
  Deadline spare_until_{0};
  Deadline renew_at_ = never;
  std::chrono::nanoseconds pause_{0};     // before the next attempt to renew
  std::optional<CredentialNeed> asked_;   // the source is working on it
  std::optional<CredentialNeed> wanted_;  // to be asked next
  Publish publish_ = Publish::nothing;
};

}  // namespace sheaf::client::runtime
