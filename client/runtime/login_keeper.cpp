#include "client/runtime/login_keeper.h"

#include <algorithm>
#include <utility>

#include "base/exception_name.h"
#include "base/read_clocks.h"
#include "client/runtime/token_end.h"
#include "cluster/config/config_check.h"
#include "cluster/config/config_options.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::client::runtime {
namespace {

using protocol::OptionGroup;

constexpr std::string_view usual_method = "K8S-SAT";
constexpr std::size_t longest_token = 65'535;  // MQTT 5 §3.1.2.11.10

std::optional<SecretFile> file_of(const ClusterConfig& config) {
  if (!config.token_file.empty()) return SecretFile("token_file", config.token_file);
  if (!config.password_file.empty()) return SecretFile("password_file", config.password_file);
  return std::nullopt;
}

LoginPlan::Kind kind_of(const CredentialSource& source) noexcept {
  return source == nullptr ? LoginPlan::Kind::file : LoginPlan::Kind::callback;
}

}  // namespace

std::shared_ptr<LoginKeeper> LoginKeeper::make(const ClusterConfig& config, CredentialSource source,
                                               Dispatcher& dispatcher, node::EventLog& events) {
  if (source == nullptr && !file_of(config)) return nullptr;
  return std::shared_ptr<LoginKeeper>(
      new LoginKeeper(config, std::move(source), dispatcher, events));
}

LoginKeeper::LoginKeeper(const ClusterConfig& config, CredentialSource source,
                         Dispatcher& dispatcher, node::EventLog& events)
    : source_(std::move(source)),
      user_(config.user),
      method_(config.token_file.empty() ? std::string() : config.auth_method),
      takes_tokens_(protocol::traits_of(config.kind).takes_tokens),
      dispatcher_(dispatcher),
      events_(events),
      file_(source_ == nullptr ? file_of(config) : std::nullopt),
      next_look_(file_ ? Deadline{0} : never),
      plan_(kind_of(source_)) {}

void LoginKeeper::join(Listener& listener) {
  const sync::MutexLock lock(mutex_);
  listeners_.push_back(&listener);
}

void LoginKeeper::leave(Listener& listener) {
  const sync::MutexLock lock(mutex_);
  std::erase(listeners_, &listener);
}

LoginKeeper::State LoginKeeper::look(Listener& listener) {
  const sync::MutexLock lock(mutex_);
  listener.notified_ = false;
  return {plan_.present(), renewals_, answers_, failure_};
}

protocol::SharedLogin LoginKeeper::present() {
  const sync::MutexLock lock(mutex_);
  return plan_.present();
}

std::uint64_t LoginKeeper::want(Now now) {
  Rest rest;
  std::uint64_t number = 0;
  {
    const sync::MutexLock lock(mutex_);
    if (plan_.on_connect(now)) number = answers_ + 1;
    rest = pump(now);
  }
  finish(std::move(rest));
  return number;
}

void LoginKeeper::wait_over() {
  const sync::MutexLock lock(mutex_);
  plan_.on_wait_over();
}

void LoginKeeper::refused(Now now) {
  Rest rest;
  {
    const sync::MutexLock lock(mutex_);
    plan_.on_refused();
    rest = pump(now);
  }
  finish(std::move(rest));
}

Deadline LoginKeeper::next() {
  const sync::MutexLock lock(mutex_);
  return std::min(plan_.next(), next_look_);
}

void LoginKeeper::on_time(Now now) {
  Rest rest;
  {
    const sync::MutexLock lock(mutex_);
    plan_.on_time(now);
    if (now.mono >= next_look_) {
      next_look_ = now.mono + look_interval;
      if (file_->changed()) plan_.on_change();
    }
    rest = pump(now);
  }
  finish(std::move(rest));
}

void LoginKeeper::close() {
  const sync::MutexLock lock(mutex_);
  closed_ = true;
  listeners_.clear();
}

// Carries out the decisions of the plan.
LoginKeeper::Rest LoginKeeper::pump(Now now) {
  Rest rest;
  while (!closed_) {
    const auto need = plan_.take_asking();
    if (!need) break;
    if (!file_) {
      rest.ask = need;
      break;
    }
    auto answer = read_file();
    if (!answer && std::exchange(complaint_, answer.error()) != answer.error()) {
      rest.complaint = answer.error();
    }
    if (answer) complaint_.clear();
    settle(std::move(answer), now);
  }
  const Publish publish = plan_.take_publication();
  if (publish == Publish::for_all) ++renewals_;
  if (publish != Publish::nothing) notify_all();
  return rest;
}

void LoginKeeper::settle(Answered answer, Now now) {
  ++answers_;
  failure_.clear();
  if (!answer) {
    failure_ = std::move(answer.error());
    plan_.on_failure(now);
  } else if (!plan_.on_answer(std::move(answer->login), answer->ends, now)) {
    failure_ = "the credentials had expired before they were given";
  }
  notify_all();
}

void LoginKeeper::notify_all() {
  for (Listener* const listener : listeners_) {
    if (!std::exchange(listener->notified_, true)) listener->on_login_state();
  }
}

void LoginKeeper::finish(Rest rest) {
  if (!rest.complaint.empty() && events_.listening()) {
    LogRecord record;
    record.level = LogLevel::warning;
    record.operation = "credentials";
    record.text = std::move(rest.complaint);
    events_.record(std::move(record));
  }
  if (!rest.ask) return;
  dispatcher_.post([self = shared_from_this(), need = *rest.ask] { self->ask_source(need); });
}

// A job of the dispatcher. The client may be gone when the source returns.
void LoginKeeper::ask_source(CredentialNeed need) {
  {
    const sync::MutexLock lock(mutex_);
    if (closed_) return;
  }
  Answered answer = call_source(need);
  const Now now = read_clocks();
  Rest rest;
  {
    const sync::MutexLock lock(mutex_);
    if (closed_) return;
    settle(std::move(answer), now);
    rest = pump(now);
  }
  finish(std::move(rest));
}

LoginKeeper::Answered LoginKeeper::read_file() {
  auto secret = file_->read();
  if (!secret) return std::unexpected(std::move(secret.error()));
  auto login = std::make_shared<protocol::Login>();
  login->user = user_;
  login->method = method_;
  if (method_.empty()) {
    login->password = std::move(*secret);
    return checked({std::move(login), std::nullopt});
  }
  const auto ends = token_end(secret->view());
  login->token = std::move(*secret);
  return checked({std::move(login), ends});
}

LoginKeeper::Answered LoginKeeper::call_source(CredentialNeed need) const {
  Answer answer;
  try {
    Result<Credentials> given = source_(CredentialRequest{need});
    if (!given) {
      const std::string& text = given.error().text;
      return std::unexpected("the program gave no credentials" + (text.empty() ? "" : ": " + text));
    }
    auto login = std::make_shared<protocol::Login>();
    login->user = std::move(given->user);
    login->password = Secret(given->password.view());
    login->method = std::move(given->method);
    login->token = Secret(given->token.view());
    if (login->method.empty() && !login->token.empty()) login->method = usual_method;
    if (given->ends) {
      answer.ends = std::chrono::floor<std::chrono::milliseconds>(given->ends->time_since_epoch());
    }
    answer.login = std::move(login);
  } catch (...) {
    return std::unexpected("the program's credentials function threw " + exception_name());
  }
  return checked(std::move(answer));
}

LoginKeeper::Answered LoginKeeper::checked(Answer answer) const {
  const protocol::Login& login = *answer.login;
  if (auto bad = cluster::check_user(login.user)) {
    return std::unexpected("the user of the credentials " + bad->text);
  }
  if (auto bad = cluster::check_password(login.password.view())) {
    return std::unexpected("the password of the credentials " + bad->text);
  }
  if (!takes_tokens_ && (!login.method.empty() || !login.token.empty())) {
    return std::unexpected("credentials with a token are " + cluster::only_for(OptionGroup::mqtt));
  }
  if (auto bad = cluster::check_user(login.method)) {
    return std::unexpected("the method of the credentials " + bad->text);
  }
  if (login.token.view().size() > longest_token) {
    return std::unexpected("the token has more than 65535 bytes");
  }
  if (login == protocol::Login{}) answer.login = nullptr;
  return answer;
}

}  // namespace sheaf::client::runtime
