#include "store/plugin/token_login.h"

#include <string_view>

#include "base/text.h"
#include "store/plugin/option_files.h"
#include "store/rights/tokens.h"

namespace sheaf::store::plugin {
namespace {

constexpr std::string_view method = "K8S-SAT";

}  // namespace

std::expected<void, std::string> TokenLogin::check() const {
  const auto lines = read_tokens_file(path_);
  if (!lines) return std::unexpected(lines.error());
  return {};
}

bool TokenLogin::admits(const mosquitto_evt_extended_auth& event) const {
  const char* const name = mosquitto_client_id(event.client);
  const std::string client = printable(name == nullptr ? "" : name);
  const auto lines = read_tokens_file(path_);
  if (!lines) {
    mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: %s is not let in, because %s", client.c_str(),
                         lines.error().c_str());
    return false;
  }
  const auto* const token = static_cast<const char*>(event.data_in);
  if (token == nullptr || !rights::has_token(*lines, {token, event.data_in_len})) {
    mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: the token of %s is not in %s", client.c_str(),
                         path_.c_str());
    return false;
  }
  // The broker would take the name for authenticated.
  if (mosquitto_client_username(event.client) == nullptr) return true;
  mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: %s gives a token and a user name, not only a token",
                       client.c_str());
  return false;
}

int TokenLogin::on_token(const mosquitto_evt_extended_auth& event) {
  if (event.auth_method == nullptr || event.auth_method != method) return MOSQ_ERR_NOT_SUPPORTED;
  admitted_.erase(event.client);
  if (!admits(event)) return MOSQ_ERR_AUTH;
  admitted_.insert(event.client);
  return MOSQ_ERR_SUCCESS;
}

int TokenLogin::on_password(const mosquitto_evt_basic_auth& event) const {
  if (event.username != nullptr) return MOSQ_ERR_PLUGIN_DEFER;
  return reloading_ || admitted_.contains(event.client) ? MOSQ_ERR_SUCCESS : MOSQ_ERR_AUTH;
}

}  // namespace sheaf::store::plugin
