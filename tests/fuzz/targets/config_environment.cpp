// Settings from the environment: variables, a connection string, or the file that is mounted.

#include "cluster/config/config_environment.h"

#include "tests/fuzz/configuration.h"

namespace sheaf::fuzz {
namespace {

// A value may be a path or the name of a user. It is no secret, so it may be in a refusal.
void expect_settings(const cluster::Variables& variables, std::string_view mounted,
                     std::string_view chosen) {
  const auto config = cluster::read_environment(variables, mounted);
  if (config) return expect_sound(*config);
  Error error;
  error.text = config.error().text;
  expect_discreet(error, chosen);
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  cluster::Variables variables;
  const std::uint8_t source = input.u8();
  if (source % 3 == 0) {
    for (const std::string_view name : cluster::environment_names()) {
      if (input.flag()) variables.emplace(name, input.short_text());
    }
    return expect_settings(variables, input.rest(), bytes);
  }
  const std::string_view rest = input.rest();
  if (source % 3 == 1) {
    variables.emplace(cluster::mount_variable, "/mount");
    return expect_settings(variables, rest, rest);
  }
  std::string text(rest);
  if (source >= 128) text = "HostName=h;Password=" + std::string(secret) + ';' + text;
  variables.emplace(cluster::string_variable, text);
  expect_settings(variables, {}, rest);
}

std::vector<std::string> seeds() {
  return {
      "\1"
      R"({"host":"b:1","keepAliveSeconds":60,"maxInflightMessages":9,"tls":{"mode":"Enabled"}})",
      "\1"
      R"({"host":"[::1]:1883","sessionExpirySeconds":3600,"tls":{"mode":"disabled"}})",
      "\2HostName=aio-broker;TcpPort=18883;UseTls=true;CaFile=ca;SatAuthFile=sat;ClientId=a",
      "\2 hostname = localhost ; usetls=False ;Username=u; "
      "PasswordFile=p;KeepAlive=60;CleanStart=1",
      "\x80TcpPort=1",
      std::string("\0\0\0\0\0\0\1\1b\1\0041883\1\5false", 22)};
}

}  // namespace sheaf::fuzz
