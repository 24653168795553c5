// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/login.h"

#include "base/text.h"

namespace sheaf::protocol {

SharedLogin make_login(std::string_view user, std::string_view password) {
  if (user.empty() && password.empty()) return nullptr;
  auto login = std::make_shared<Login>();
  login->user = user;
  login->password = Secret(password);
  return login;
}

SharedLogin login_of(const ClusterConfig& config) {
  return make_login(config.user, config.password);
}

const Login* UsedLogin::take() noexcept {
  if (slot_ != nullptr) used_ = slot_->present;
  return used_.get();
}

bool UsedLogin::stale() const noexcept {
  const Login* const now = present();
  if (now == used_.get()) return false;
  return now == nullptr || used_ == nullptr || *now != *used_;
}

CloseReason excused_if_stale(CloseReason refusal, const UsedLogin& login) noexcept {
  if (refusal.reason != Reason::authentication || !login.stale()) return refusal;
  refusal.permanent = false;
  refusal.renegotiates = true;
  return refusal;
}

std::string without_secrets(std::string_view text, const Login* login) {
  if (login == nullptr) return std::string(text);
  return without(without(text, login->password.view()), login->token.view());
}

}  // namespace sheaf::protocol
