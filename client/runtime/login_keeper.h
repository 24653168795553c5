#pragma once

// LoginKeeper: asks the source of a client's logins, a function of the program or a file, when the
// plan decides so, and informs all paths of the answer. A path looks at the state and acts under
// its own baton (login_dialer.h).
//
// A function runs as a job of the dispatcher and may block. A file is read where it is needed.
//
// Thread rule: any thread. Listeners are called under the mutex; they only note that there is a
// change to look at. The program's function, executor and log sink are never called under it.

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>
#include <sheaf/credentials.h>

#include "base/mutex.h"
#include "client/runtime/dispatcher.h"
#include "client/runtime/login_plan.h"
#include "client/runtime/secret_file.h"
#include "node/event_log.h"
#include "protocol/login.h"

namespace sheaf::client::runtime {

class LoginKeeper final : public std::enable_shared_from_this<LoginKeeper> {
 public:
  // What a path sees.
  struct State {
    protocol::SharedLogin login;  // the present one; null: no login
    std::uint64_t renewals = 0;   // how often open connections had to renew theirs
    std::uint64_t answers = 0;    // how often the source has answered
    std::string failure;          // of the last answer, one clause; empty: it gave a login
  };

  class Listener {
   public:
    // The state changed. Called once for all changes until the next look().
    virtual void on_login_state() = 0;

   protected:
    ~Listener() = default;

   private:
    friend class LoginKeeper;
    bool notified_ = false;  // under the keeper's mutex
  };

  // Null: the login of the configuration never changes. The other arguments must live until
  // close().
  static std::shared_ptr<LoginKeeper> make(const ClusterConfig& config, CredentialSource source,
                                           Dispatcher& dispatcher, node::EventLog& events);
  ~LoginKeeper() = default;
  LoginKeeper(const LoginKeeper&) = delete;
  LoginKeeper& operator=(const LoginKeeper&) = delete;

  void join(Listener& listener);
  void leave(Listener& listener);
  // Changes after this notify the listener again.
  State look(Listener& listener);

  protocol::SharedLogin present();

  // A connection is about to be made. It may proceed once State::answers reaches the result.
  std::uint64_t want(Now now);
  void wait_over();       // a waiting connection gave up
  void refused(Now now);  // a server refused the present login
  // When on_time() must be called.
  Deadline next();
  void on_time(Now now);
  // From now on the source is not asked and no listener is notified.
  void close();

 private:
  // An answer of a source.
  struct Answer {
    protocol::SharedLogin login;
    std::optional<std::chrono::milliseconds> ends;  // by the wall clock
  };
  using Answered = std::expected<Answer, std::string>;

  static constexpr std::chrono::seconds look_interval{1};

  LoginKeeper(const ClusterConfig& config, CredentialSource source, Dispatcher& dispatcher,
              node::EventLog& events);
  // What remains to be done once the mutex is released.
  struct Rest {
    std::optional<CredentialNeed> ask;
    std::string complaint;
  };
  Rest pump(Now now) SHEAF_REQUIRES(mutex_);
  void settle(Answered answer, Now now) SHEAF_REQUIRES(mutex_);
  void notify_all() SHEAF_REQUIRES(mutex_);
  void finish(Rest rest);
  void ask_source(CredentialNeed need);
  Answered read_file() SHEAF_REQUIRES(mutex_);
  Answered call_source(CredentialNeed need) const;
  Answered checked(Answer answer) const;

  const CredentialSource source_;  // null: a file
  const std::string user_;         // of a password file
  const std::string method_;       // of a token file; empty: a password file
  const bool takes_tokens_;
  Dispatcher& dispatcher_;
  node::EventLog& events_;

  sync::Mutex mutex_;
  std::optional<SecretFile> file_ SHEAF_GUARDED_BY(mutex_);
  Deadline next_look_ SHEAF_GUARDED_BY(mutex_) = never;  // at the file
  LoginPlan plan_ SHEAF_GUARDED_BY(mutex_);
  std::uint64_t renewals_ SHEAF_GUARDED_BY(mutex_) = 0;
  std::uint64_t answers_ SHEAF_GUARDED_BY(mutex_) = 0;
  std::string failure_ SHEAF_GUARDED_BY(mutex_);
  std::string complaint_ SHEAF_GUARDED_BY(mutex_);  // the last one logged
  std::vector<Listener*> listeners_ SHEAF_GUARDED_BY(mutex_);
  bool closed_ SHEAF_GUARDED_BY(mutex_) = false;
};

}  // namespace sheaf::client::runtime
