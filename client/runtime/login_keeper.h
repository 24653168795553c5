#pragma once

// LoginKeeper: the source of a client's logins: a function of the program, or a file. It asks when
// the plan says so, and tells all paths what came of it. A path looks at the state and acts under
// its own baton (login_dialer.h).
//
// A function runs as a job of the dispatcher and may block. A file is read where it is asked for.
//
// Thread rule: any thread. Listeners are called under the mutex; they only note that there is
// something to look at. The program's function, executor and log sink are never called under it.

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
  // What a path looks at.
  struct State {
    protocol::SharedLogin login;  // the present one; null: nobody logs in
    std::uint64_t renewals = 0;   // how often connections that stand were to renew theirs
    std::uint64_t answers = 0;    // how often the source has answered
    std::string failure;          // of the last answer, one clause; empty: it gave a login
  };

  class Listener {
   public:
    // There is another state. Once for all changes until it is looked at.
    virtual void on_login_state() = 0;

   protected:
    ~Listener() = default;

   private:
    friend class LoginKeeper;
    bool notified_ = false;  // under the keeper's mutex
  };

  // Null: the login of the configuration never changes. The others outlive it until close().
  static std::shared_ptr<LoginKeeper> make(const ClusterConfig& config, CredentialSource source,
                                           Dispatcher& dispatcher, node::EventLog& events);
  ~LoginKeeper() = default;
  LoginKeeper(const LoginKeeper&) = delete;
  LoginKeeper& operator=(const LoginKeeper&) = delete;

  void join(Listener& listener);
  void leave(Listener& listener);
  // Later changes are told again.
  State look(Listener& listener);

  protocol::SharedLogin present();

  // A connection is about to be made. It goes on when State::answers has come so far; 0: at once.
  std::uint64_t want(Now now);
  void wait_over();       // one that waited gave up
  void refused(Now now);  // a server did not take the present login
  // When on_time() is to be called.
  Deadline next();
  void on_time(Now now);
  // The source is not asked any more, and nobody is told anything.
  void close();

 private:
  // What a source says.
  struct Answer {
    protocol::SharedLogin login;
    std::optional<std::chrono::milliseconds> ends;  // by the wall clock
  };
  using Answered = std::expected<Answer, std::string>;

  static constexpr std::chrono::seconds look_interval{1};

  LoginKeeper(const ClusterConfig& config, CredentialSource source, Dispatcher& dispatcher,
              node::EventLog& events);
  // What is left to do when the mutex is free again.
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
  const std::string user_;         // beside a password's file
  const std::string method_;       // of a token's file; empty: it is a password's
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
  std::string complaint_ SHEAF_GUARDED_BY(mutex_);  // the last one that was logged
  std::vector<Listener*> listeners_ SHEAF_GUARDED_BY(mutex_);
  bool closed_ SHEAF_GUARDED_BY(mutex_) = false;
};

}  // namespace sheaf::client::runtime
