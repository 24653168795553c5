// Settings from the environment of a pod of Azure IoT Operations.

#include "cluster/config/config_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cluster/config/config_options.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

const Variables bare{{"AIO_BROKER_HOSTNAME", "aio-broker"}};
const Variables mounts{{"CONNECTOR_CONFIGURATION_MOUNT_PATH", "/etc/akri/config"}};
constexpr std::string_view small_file = R"({"host":"aio-broker:18883"})";

// `more` replaces what has the same name.
Variables with_variables(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

ClusterConfig good_environment(const Variables& variables, std::string_view mounted = {}) {
  auto config = read_environment(variables, mounted);
  EXPECT_TRUE(config) << config.error().text;
  return config ? *config : ClusterConfig{};
}

std::string refusal_of_environment(const Variables& variables, std::string_view mounted = {}) {
  const auto config = read_environment(variables, mounted);
  return config ? "it was taken" : config.error().text;
}

Variables as_string(std::string_view text) {
  return {{"ConnectionStrings__Default", std::string(text)}};
}

// The names and values of all options that are not the defaults.
std::map<std::string, std::string> given_options(const ClusterConfig& config) {
  std::map<std::string, std::string> given;
  for (const Option& option : option_table()) {
    if (!is_given(config, option)) continue;
    const OptionValue value = option.access.get(config);
    given[std::string(option.name)] =
        value.text.empty() ? std::to_string(value.number) : std::string(value.text);
  }
  if (!config.user.empty()) given["user"] = config.user;
  return given;
}
using Options = std::map<std::string, std::string>;

struct SettingCase {
  const char* variable;
  const char* name;  // in a connection string
  const char* value;
  std::string wrong;      // a value that is refused
  const char* complaint;  // what is said then, after the variable's name
  Options options{};      // what it becomes, with `others`
  Variables others{};     // which it needs
};

// clang-format off: a table.
std::vector<SettingCase> setting_cases() {
  const std::string too_long(4'096, 'x');
  const char* const no_path = ", not the path of a file";
  const char* const no_port = R"( is "x", not an integer from 1 to 65535)";
  const char* const no_flag = R"( is "maybe", not true, false, 1 or 0)";
  const Options identity{{"tls_cert", "c"}, {"tls_key", "k"}};
  const Options locked{{"tls_cert", "c"}, {"tls_key", "k"}, {"tls_key_password_file", "w"}};
  const Variables cert{{"AIO_TLS_CERT_FILE", "c"}};
  const Variables key{{"AIO_TLS_KEY_FILE", "k"}};
  const Variables both{{"AIO_TLS_CERT_FILE", "c"}, {"AIO_TLS_KEY_FILE", "k"}};
  return {
      {"AIO_BROKER_TCP_PORT", "TcpPort", "18883", "x", no_port},
      {"AIO_MQTT_USE_TLS", "UseTls", "true", "maybe", no_flag},
      {"AIO_TLS_CA_FILE", "CaFile", "/ca", too_long, no_path, {{"tls_ca", "/ca"}}},
      {"AIO_TLS_CERT_FILE", "CertFile", "c", too_long, no_path, identity, key},
      {"AIO_TLS_KEY_FILE", "KeyFile", "k", too_long, no_path, identity, cert},
      {"AIO_TLS_KEY_PASSWORD_FILE", "KeyPasswordFile", "w", too_long, no_path, locked, both},
      {"AIO_SAT_FILE", "SatAuthFile", "/sat", too_long, no_path, {{"token_file", "/sat"}}},
      {"AIO_MQTT_USERNAME", "Username", "ann", "\xff", " is not UTF-8 text", {{"user", "ann"}}},
      {"AIO_MQTT_PASSWORD_FILE", "PasswordFile", "p", too_long, no_path, {{"password_file", "p"}}},
      {"AIO_MQTT_CLIENT_ID", "ClientId", "press-7", "a/b", R"( is "a/b", not 1 to 64 characters)",
       {{"client_id_exact", "press-7"}}},
      {"AIO_MQTT_CLEAN_START", "CleanStart", "false", "maybe", no_flag},
      {"AIO_MQTT_KEEP_ALIVE", "KeepAlive", "60", "65536",
       R"( is "65536", not an integer from 1 to 65535)", {{"keep_alive", "60000"}}},
      {"AIO_MQTT_SESSION_EXPIRY", "SessionExpiry", "3600", "-1",
       R"( is "-1", not an integer from 0 to 4294967295)"},
  };
}
// clang-format on

TEST(ConfigEnvironment, OfOneVariableIsABrokerOverTls) {
  const ClusterConfig config = good_environment(bare);
  EXPECT_EQ(config.kind, EndpointKind::state_store);
  EXPECT_TRUE(config.tls);
  ASSERT_EQ(config.nodes.size(), 1u);
  EXPECT_EQ(config.nodes[0].identity(), "aio-broker:8883");
  EXPECT_EQ(given_options(config), Options{});
}

TEST(ConfigEnvironment, EachVariableIsTakenIgnoredWhenEmptyAndRefusedWhenWrong) {
  for (const SettingCase& each : setting_cases()) {
    SCOPED_TRACE(each.variable);
    const Variables others = with_variables(bare, each.others);
    EXPECT_EQ(
        given_options(good_environment(with_variables(others, {{each.variable, each.value}}))),
        each.options);
    EXPECT_EQ(refusal_of_environment(with_variables(others, {{each.variable, ""}})),
              refusal_of_environment(others));
    const auto refused =
        refusal_of_environment(with_variables(others, {{each.variable, each.wrong}}));
    EXPECT_THAT(refused, StartsWith(each.variable));
    EXPECT_THAT(refused, HasSubstr(each.complaint));
  }
}

TEST(ConfigEnvironment, EachIsTakenFromAConnectionString) {
  std::map<std::string_view, const char*> names;
  for (const SettingCase& each : setting_cases()) names[each.variable] = each.name;
  for (const SettingCase& each : setting_cases()) {
    SCOPED_TRACE(each.name);
    std::string others = "HostName=aio-broker;";
    for (const auto& [name, value] : each.others) others.append(names[name]) += "=" + value + ";";
    EXPECT_EQ(given_options(good_environment(as_string(others + each.name + "=" + each.value))),
              each.options);
    EXPECT_EQ(refusal_of_environment(as_string(others + each.name + "=")),
              refusal_of_environment(as_string(others)));
    const auto refused = refusal_of_environment(as_string(others + each.name + "=" + each.wrong));
    EXPECT_THAT(refused, StartsWith("ConnectionStrings__Default: " + std::string(each.name)));
    EXPECT_THAT(refused, HasSubstr(each.complaint));
  }
}

// There is a case for each variable but the host's.
TEST(ConfigEnvironment, NoVariableIsForgottenHereOrInTheDocumentation) {
  std::set<std::string_view> known{"AIO_BROKER_HOSTNAME",
                                   "CONNECTOR_CONFIGURATION_MOUNT_PATH",
                                   "ConnectionStrings__Default",
                                   "BROKER_SAT_MOUNT_PATH",
                                   "BROKER_TLS_TRUST_BUNDLE_CACERT_MOUNT_PATH",
                                   "CONNECTOR_ID"};
  for (const SettingCase& each : setting_cases()) known.insert(each.variable);
  const auto names = environment_names();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()), known);
  std::ifstream file(std::filesystem::path(SHEAF_TEST_DOCS) / "configuration.md");
  std::stringstream page;
  page << file.rdbuf();
  for (const std::string_view name : names) {
    EXPECT_THAT(page.str(), HasSubstr("| `" + std::string(name) + "` |"));
  }
  for (const SettingCase& each : setting_cases()) {
    EXPECT_THAT(page.str(), HasSubstr("`" + std::string(each.name) + "`"));
  }
}

TEST(ConfigEnvironment, TheHostIsANameOrAnAddress) {
  const auto identity = [](const char* host) {
    return good_environment({{"AIO_BROKER_HOSTNAME", host}}).nodes.at(0).identity();
  };
  EXPECT_EQ(identity("10.0.0.7"), "10.0.0.7:8883");
  EXPECT_EQ(identity("fd00::7"), "[fd00::7]:8883");
  EXPECT_EQ(identity("[fd00::7]"), "[fd00::7]:8883");
  EXPECT_EQ(refusal_of_environment({{"AIO_BROKER_HOSTNAME", "a b"}}),
            "AIO_BROKER_HOSTNAME: the host is neither a name nor an address");
  EXPECT_EQ(refusal_of_environment({{"AIO_BROKER_HOSTNAME", "/run/a.sock"}}),
            "AIO_BROKER_HOSTNAME is \"/run/a.sock\", not a name or an address");
}

TEST(ConfigEnvironment, FlagsAreInAnyCase) {
  for (const char* off : {"false", "False", "FALSE", "0"}) {
    const auto config = good_environment(with_variables(bare, {{"AIO_MQTT_USE_TLS", off}}));
    EXPECT_FALSE(config.tls) << off;
    EXPECT_EQ(config.nodes[0].port, 8883) << "the SDKs' default, with TLS or without";
  }
  EXPECT_TRUE(good_environment(with_variables(bare, {{"AIO_MQTT_USE_TLS", "True"}})).tls);
}

TEST(ConfigEnvironment, WhatExcludesOrNeedsAnotherNamesBoth) {
  struct Row {
    Variables variables;
    const char* says;
  };
  const Row table[] = {
      {{{"AIO_TLS_CERT_FILE", "c"}}, "AIO_TLS_CERT_FILE needs AIO_TLS_KEY_FILE"},
      {{{"AIO_TLS_KEY_FILE", "k"}}, "AIO_TLS_KEY_FILE needs AIO_TLS_CERT_FILE"},
      {{{"AIO_TLS_KEY_PASSWORD_FILE", "w"}}, "AIO_TLS_KEY_PASSWORD_FILE needs AIO_TLS_KEY_FILE"},
      {{{"AIO_MQTT_USE_TLS", "false"}, {"AIO_TLS_CA_FILE", "ca"}},
       "AIO_TLS_CA_FILE needs TLS, which AIO_MQTT_USE_TLS turns off"},
      {{{"AIO_SAT_FILE", "s"}, {"AIO_MQTT_PASSWORD_FILE", "p"}},
       "AIO_SAT_FILE cannot be combined with AIO_MQTT_PASSWORD_FILE"},
      {{{"AIO_SAT_FILE", "s"}, {"AIO_MQTT_USERNAME", "u"}},
       "AIO_SAT_FILE cannot be combined with AIO_MQTT_USERNAME"},
      {{{"AIO_MQTT_USE_TLS", "false"}, {"AIO_SAT_FILE", "s"}},
       "AIO_MQTT_USE_TLS turns TLS off: the token would reach aio-broker:8883 unencrypted, which "
       "needs allow_plain_password=1"},
  };
  for (const Row& row : table) {
    EXPECT_EQ(refusal_of_environment(with_variables(bare, row.variables)), row.says);
  }
  EXPECT_EQ(refusal_of_environment(as_string("HostName=b;CertFile=c")),
            "ConnectionStrings__Default: CertFile needs KeyFile");
}

TEST(ConfigEnvironment, AConnectionStringIsReadAsTheSdkDoes) {
  const auto config = good_environment(
      as_string(" hostname = aio-broker ; TCPPORT=18883;;UseTls=true;CaFile=/a b/ca.crt ; "));
  EXPECT_EQ(config.nodes.at(0).identity(), "aio-broker:18883");
  EXPECT_EQ(config.tls_ca, "/a b/ca.crt");
  EXPECT_EQ(good_environment(as_string("HostName=b;CaFile=/a=b")).tls_ca, "/a=b");
}

// It may be that of a database.
TEST(ConfigEnvironment, AConnectionStringOfAnotherKindIsRefusedAndNotQuoted) {
  const std::string begin = "ConnectionStrings__Default: ";
  EXPECT_EQ(refusal_of_environment(as_string("Server=db;Password=S3kr3t")),
            begin + "Server is not a setting of a broker");
  EXPECT_EQ(refusal_of_environment(as_string("User ID=me;Password=S3kr3t")),
            begin + "a part of it is not NAME=VALUE");
  EXPECT_EQ(refusal_of_environment(as_string("HostName=b;S3kr3t")),
            begin + "a part of it is not NAME=VALUE");
  EXPECT_EQ(refusal_of_environment(as_string("HostName=b;Password=S3kr3t")),
            begin + "Password is not a setting of a broker. Did you mean PasswordFile?");
  EXPECT_EQ(refusal_of_environment(as_string("TcpPort=1883")), begin + "HostName is missing");
  EXPECT_EQ(refusal_of_environment(as_string("HostName=a;hostname=b")),
            begin + "HostName is given twice");
}

TEST(ConfigEnvironment, TheMountsOfAConnectorAreOneWhole) {
  const Variables all = with_variables(
      mounts, {{"BROKER_SAT_MOUNT_PATH", "/etc/akri/secrets/broker-sat"},
               {"BROKER_TLS_TRUST_BUNDLE_CACERT_MOUNT_PATH", "/etc/akri/cacerts/bundle"},
               {"CONNECTOR_ID", "press-connector-0"}});
  const auto config = good_environment(all, R"({"host":"aio-broker:18883","keepAliveSeconds":60,
      "maxInflightMessages":100,"protocol":"Mqtt","sessionExpirySeconds":3600,
      "tls":{"mode":"Enabled"},"later":[1]})");
  EXPECT_TRUE(config.tls);
  EXPECT_EQ(config.nodes.at(0).identity(), "aio-broker:18883");
  EXPECT_EQ(given_options(config), (Options{{"token_file", "/etc/akri/secrets/broker-sat"},
                                            {"tls_ca", "/etc/akri/cacerts/bundle"},
                                            {"client_id", "press-connector-0"},
                                            {"keep_alive", "60000"},
                                            {"max_in_flight", "100"}}));
  EXPECT_TRUE(good_environment(mounts, small_file).tls) << "TLS must be turned off";
}

TEST(ConfigEnvironment, AConnectorWithoutTlsIgnoresTheMountOfAuthorities) {
  const auto config = good_environment(
      with_variables(mounts, {{"BROKER_TLS_TRUST_BUNDLE_CACERT_MOUNT_PATH", "/ca"}}),
      R"({"host":"aio-broker:1883","tls":{"mode":"disabled"}})");
  EXPECT_FALSE(config.tls);
  EXPECT_EQ(config.tls_ca, "");
}

TEST(ConfigEnvironment, WhatIsWrongInTheMountedFileIsNamed) {
  const std::string file = "MQTT_CONNECTION_CONFIGURATION";
  struct Row {
    const char* text;
    std::string says;
  };
  const Row table[] = {
      {"", file + ": line 1, column 1: this is not JSON"},
      {"{}", file + R"(.host is "", not HOST:PORT)"},
      {"[]", file + R"(.host is "", not HOST:PORT)"},
      {R"({"host":7})", file + ".host must be a JSON string"},
      {R"({"host":"aio-broker"})", file + R"(.host is "aio-broker", not HOST:PORT)"},
      {R"({"host":"aio-broker:0"})",
       file + R"(.host: the port is "0", not an integer from 1 to 65535)"},
      {R"({"host":"b:1","keepAliveSeconds":0})",
       file + R"(.keepAliveSeconds is "0", not an integer from 1 to 65535)"},
      {R"({"host":"b:1","keepAliveSeconds":"60"})",
       file + ".keepAliveSeconds must be a JSON number"},
      {R"({"host":"b:1","maxInflightMessages":0})",
       file + R"(.maxInflightMessages is "0", not an integer from 1 to 65535)"},
      {R"({"host":"b:1","sessionExpirySeconds":-1})",
       file + R"(.sessionExpirySeconds is "-1", not an integer from 0 to 4294967295)"},
      {R"({"host":"b:1","tls":{"mode":"on"}})",
       file + R"(.tls.mode is "on", not Enabled or Disabled)"},
      {R"({"host":"b:1","tls":{"mode":"Disabled"}})",
       file + ".tls.mode turns TLS off: the token would reach b:1 unencrypted, which needs "
              "allow_plain_password=1"},
  };
  const Variables variables = with_variables(mounts, {{"BROKER_SAT_MOUNT_PATH", "/sat"}});
  for (const Row& row : table) {
    EXPECT_EQ(refusal_of_environment(variables, row.text), row.says) << row.text;
  }
}

TEST(ConfigEnvironment, TheFirstVariableThatNamesABrokerDecidesAlone) {
  Variables all = with_variables(as_string("HostName=of-string"),
                                 {{"BROKER_SAT_MOUNT_PATH", "/sat"}, {"AIO_TLS_CA_FILE", "/ca"}});
  const auto shown = [&] {
    const auto config = good_environment(all, small_file);
    return std::string(broker_variable(all)) + ": " + config.nodes.at(0).host + config.token_file +
           config.tls_ca;
  };
  EXPECT_EQ(shown(), "ConnectionStrings__Default: of-string");
  all["CONNECTOR_CONFIGURATION_MOUNT_PATH"] = "/mount";
  EXPECT_EQ(shown(), "CONNECTOR_CONFIGURATION_MOUNT_PATH: aio-broker/sat");
  all["AIO_BROKER_HOSTNAME"] = "of-variable";
  EXPECT_EQ(shown(), "AIO_BROKER_HOSTNAME: of-variable/ca");
}

TEST(ConfigEnvironment, WithoutABrokerTheVariableThatIsMissingIsNamed) {
  const std::string begin = "the environment names no broker: set ";
  EXPECT_EQ(refusal_of_environment({}), begin + "AIO_BROKER_HOSTNAME");
  EXPECT_EQ(refusal_of_environment({{"AIO_BROKER_HOSTNAME", ""}}), begin + "AIO_BROKER_HOSTNAME");
  EXPECT_EQ(refusal_of_environment({{"AIO_SAT_FILE", "/sat"}}),
            begin + "AIO_BROKER_HOSTNAME as well as AIO_SAT_FILE");
  EXPECT_EQ(refusal_of_environment({{"BROKER_SAT_MOUNT_PATH", "/sat"}}),
            begin + "CONNECTOR_CONFIGURATION_MOUNT_PATH as well as BROKER_SAT_MOUNT_PATH");
}

}  // namespace
}  // namespace sheaf::cluster
