#include "cli/dev/pod_environment.h"

#include <string_view>

#include "base/percent.h"

namespace sheaf::cli {

namespace {

constexpr std::string_view letters_and_digits =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool has_only(std::string_view text, std::string_view more) {
  for (const char c : text) {
    if (letters_and_digits.find(c) == letters_and_digits.npos && more.find(c) == more.npos) {
      return false;
    }
  }
  return true;
}

std::string shell_word(std::string_view value) {
  if (has_only(value, "/._-:,")) return std::string(value);
  std::string text = "'";
  for (const char c : value) c == '\'' ? text.append("'\\''") : text.append(1, c);
  return text + "'";
}

}  // namespace

std::vector<std::string> pod_environment(const PodSettings& settings, std::uint16_t port) {
  const auto path = [](const char* name, const std::string& value) {
    return value.empty() ? std::string(name) : name + ("=" + value);
  };
  return {"AIO_BROKER_HOSTNAME=127.0.0.1",
          "AIO_BROKER_TCP_PORT=" + std::to_string(port),
          std::string("AIO_MQTT_USE_TLS=") + (settings.authorities.empty() ? "false" : "true"),
          path("AIO_TLS_CA_FILE", settings.authorities),
          path("AIO_SAT_FILE", settings.token),
          "AIO_MQTT_CLIENT_ID=sheaf-dev",
          "AIO_TLS_CERT_FILE",
          "AIO_TLS_KEY_FILE",
          "AIO_TLS_KEY_PASSWORD_FILE",
          "AIO_MQTT_USERNAME",
          "AIO_MQTT_PASSWORD_FILE"};
}

std::string pod_uri_options(const PodSettings& settings) {
  std::string text;
  const auto add = [&text](const char* option, const std::string& path) {
    if (path.empty()) return;
    text += text.empty() ? "?" : "&";
    text += option + ("=" + percent_encode(path, "/"));
  };
  add("tls_ca", settings.authorities);
  add("token_file", settings.token);
  return text;
}

std::vector<std::string> shell_lines(const std::vector<std::string>& environment) {
  std::vector<std::string> lines;
  std::string unset = "unset";
  for (const std::string& variable : environment) {
    const std::size_t at = variable.find('=');
    if (at == variable.npos) {
      unset += " " + variable;
    } else {
      lines.push_back("export " + variable.substr(0, at + 1) + shell_word(variable.substr(at + 1)));
    }
  }
  lines.push_back(unset);
  return lines;
}

}  // namespace sheaf::cli
