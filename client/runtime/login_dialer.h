#pragma once

// LoginDialer: connects a path to the logins of its client. Each connection of the path waits here
// for the source of logins before it is dialed, within its deadline. When the source gives another
// login, the sessions of the path get it, and its connections renew theirs.
//
// Thread rule: under the path's baton, except for leave().

#include <chrono>
#include <memory>
#include <optional>

#include "base/intrusive_list.h"
#include "client/runtime/login_keeper.h"
#include "cluster/client_cluster.h"
#include "protocol/session_factory.h"
#include "socket/lane/lane.h"
#include "socket/seam.h"

namespace sheaf::client::runtime {

class LoginDialer final : public socket::Dialer,
                          private socket::TimerSink,
                          private socket::Lane::Task,
                          private LoginKeeper::Listener {
 public:
  struct Parts {
    socket::Loop& loop;
    socket::Lane& lane;
    protocol::SessionFactory& sessions;
  };
  // `keeps_time` is true for one path of a client: it checks when the source must be asked.
  LoginDialer(Parts parts, std::unique_ptr<socket::Dialer> inner,
              std::shared_ptr<LoginKeeper> keeper, bool keeps_time);
  ~LoginDialer() override;
  LoginDialer(const LoginDialer&) = delete;
  LoginDialer& operator=(const LoginDialer&) = delete;
  // Call before the lane runs.
  void set_cluster(cluster::ClientCluster& cluster) noexcept { cluster_ = &cluster; }

  std::unique_ptr<socket::Dial> dial(const socket::Endpoint& endpoint, Deadline deadline,
                                     socket::DialSink& dial_sink,
                                     socket::StreamSink& stream_sink) override;
  void on_login_refused(Now now) override { keeper_->refused(now); }
  std::optional<std::chrono::milliseconds> certificate_end() override {
    return inner_->certificate_end();
  }

  // Posts nothing to the lane from now on. Any thread.
  void leave() noexcept { keeper_->leave(*this); }
  // Call after leave(), when nothing drives the lane any more.
  void forget_task() noexcept { parts_.lane.cancel(*this); }

 private:
  class LoginDial;

  void on_timer(Now now) override;
  void run(Now now) override;
  void on_login_state() override { parts_.lane.post(*this); }
  void settle(const LoginKeeper::State& state, Now now);
  void arm_timer();

  const Parts parts_;
  std::unique_ptr<socket::Dialer> inner_;
  std::shared_ptr<LoginKeeper> keeper_;
  cluster::ClientCluster* cluster_ = nullptr;
  std::uint64_t renewals_ = 0;  // those this path has carried out
  IntrusiveList<LoginDial> waiting_;
  std::unique_ptr<socket::Timer> timer_;  // null: another path keeps the time
};

}  // namespace sheaf::client::runtime
