#include "client/runtime/login_dialer.h"

#include <chrono>
#include <utility>

namespace sheaf::client::runtime {
namespace {

// The dialing side may give up at the same moment, and knows less about the reason.
constexpr std::chrono::milliseconds before_deadline{1};

}  // namespace

class LoginDialer::LoginDial final : public socket::Dial,
                                     public ListHook<LoginDial>,
                                     private socket::TimerSink {
 public:
  LoginDial(LoginDialer& owner, const socket::Endpoint& endpoint, Deadline deadline,
            socket::DialSink& dial_sink, socket::StreamSink& stream_sink)
      : owner_(owner),
        endpoint_(endpoint),
        deadline_(deadline),
        dial_sink_(dial_sink),
        stream_sink_(stream_sink) {}
  ~LoginDial() override {
    if (answer_ == 0) return;
    owner_.waiting_.remove(*this);
    owner_.keeper_->wait_over();
  }
  LoginDial(const LoginDial&) = delete;
  LoginDial& operator=(const LoginDial&) = delete;

  // Waits for this answer of the source.
  void wait_for(std::uint64_t answer) {
    answer_ = answer;
    owner_.waiting_.push_back(*this);
    timer_ = owner_.parts_.loop.timer(*this);
    timer_->set(deadline_ - before_deadline);
  }
  std::uint64_t answer() const noexcept { return answer_; }
  void go_on() {
    stop_waiting();
    inner_ = owner_.inner_->dial(endpoint_, deadline_, dial_sink_, stream_sink_);
  }
  void fail(std::string text, Now now) {
    stop_waiting();
    dial_sink_.on_dial_failed({.text = std::move(text), .login = true}, now);
  }

 private:
  void on_timer(Now now) override {
    owner_.keeper_->wait_over();
    fail("the program's credentials did not come in time", now);
  }
  void stop_waiting() {
    if (answer_ == 0) return;
    answer_ = 0;
    owner_.waiting_.remove(*this);
    timer_->cancel();  // it may be calling us now
  }

  LoginDialer& owner_;
  const socket::Endpoint endpoint_;
  const Deadline deadline_;
  socket::DialSink& dial_sink_;
  socket::StreamSink& stream_sink_;
  std::uint64_t answer_ = 0;  // 0: does not wait
  std::unique_ptr<socket::Timer> timer_;
  std::unique_ptr<socket::Dial> inner_;
};

LoginDialer::LoginDialer(Parts parts, std::unique_ptr<socket::Dialer> inner,
                         std::shared_ptr<LoginKeeper> keeper, bool keeps_time)
    : parts_(parts), inner_(std::move(inner)), keeper_(std::move(keeper)) {
  if (keeps_time) timer_ = parts_.loop.timer(*this);
  keeper_->join(*this);
  arm_timer();
}

LoginDialer::~LoginDialer() { leave(); }

std::unique_ptr<socket::Dial> LoginDialer::dial(const socket::Endpoint& endpoint, Deadline deadline,
                                                socket::DialSink& dial_sink,
                                                socket::StreamSink& stream_sink) {
  auto dial = std::make_unique<LoginDial>(*this, endpoint, deadline, dial_sink, stream_sink);
  const std::uint64_t answer = keeper_->want(parts_.loop.now());
  if (answer != 0) {
    dial->wait_for(answer);
  } else {
    parts_.sessions.set_login(keeper_->present());
    dial->go_on();
  }
  return dial;
}

// The source has answered, or a login has ended.
void LoginDialer::run(Now now) {
  const LoginKeeper::State state = keeper_->look(*this);
  parts_.sessions.set_login(state.login);
  if (std::exchange(renewals_, state.renewals) != state.renewals) cluster_->renew_logins(now);
  settle(state, now);
  arm_timer();
}

// A failing dial may end others and start some, so the loop starts from the front each time.
void LoginDialer::settle(const LoginKeeper::State& state, Now now) {
  while (true) {
    LoginDial* const dial = waiting_.front();
    if (dial == nullptr || dial->answer() > state.answers) return;
    if (state.failure.empty()) {
      dial->go_on();
    } else {
      dial->fail(state.failure, now);
    }
  }
}

void LoginDialer::on_timer(Now now) {
  keeper_->on_time(now);
  arm_timer();
}

void LoginDialer::arm_timer() {
  if (timer_ != nullptr) timer_->set(keeper_->next());
}

}  // namespace sheaf::client::runtime
