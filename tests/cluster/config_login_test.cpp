// Where a configuration takes the login from.

#include <gtest/gtest.h>

#include <sheaf/cluster_config.h>

#include "cluster/config/config_check.h"

namespace sheaf {
namespace {

ClusterConfig good_login(const std::string& uri) {
  auto config = ClusterConfig::parse_uri(uri);
  EXPECT_TRUE(config.has_value()) << uri << ": " << (config ? "" : config.error().text);
  return config ? *config : ClusterConfig{};
}

std::string refusal_of_login(const std::string& uri) {
  const auto config = ClusterConfig::parse_uri(uri);
  return config ? "it was taken" : config.error().text;
}

TEST(ConfigLogin, OptionsOfFilesArriveInTheirFields) {
  const auto password = good_login("redis://line4@127.0.0.1?password_file=/run/my%20secret/p");
  EXPECT_EQ(password.user, "line4");
  EXPECT_EQ(password.password_file, "/run/my secret/p");
  const auto token = good_login("mqtt://127.0.0.1?token_file=/run/sat&auth_method=OAUTH2-JWT");
  EXPECT_EQ(token.token_file, "/run/sat");
  EXPECT_EQ(token.auth_method, "OAUTH2-JWT");
  EXPECT_EQ(good_login("mqtts://b1?token_file=/run/sat").auth_method, "K8S-SAT");
}

TEST(ConfigLogin, ALoginComesFromOnePlace) {
  EXPECT_EQ(refusal_of_login("redis://line4:geheim@127.0.0.1?password_file=/p"),
            "option password_file cannot be combined with a password");
  for (const char* uri :
       {"mqtt://line4@127.0.0.1?token_file=/t", "mqtt://:geheim@127.0.0.1?token_file=/t",
        "mqtt://127.0.0.1?token_file=/t&password_file=/p"}) {
    EXPECT_EQ(refusal_of_login(uri),
              "option token_file cannot be combined with user, password or password_file")
        << uri;
  }
  using cluster::LoginFrom;
  for (const char* uri : {"mqtt://line4@127.0.0.1", "mqtt://:geheim@127.0.0.1",
                          "mqtt://127.0.0.1?password_file=/p", "mqtt://127.0.0.1?token_file=/t"}) {
    const auto wrong = cluster::check_config(good_login(uri), LoginFrom::callback);
    ASSERT_TRUE(wrong) << uri;
    EXPECT_EQ(wrong->text,
              "the program's credentials cannot be combined with user, password, password_file or "
              "token_file");
  }
  EXPECT_FALSE(cluster::check_config(good_login("mqtt://127.0.0.1"), LoginFrom::callback));
}

TEST(ConfigLogin, TokensAreForMqttAlone) {
  EXPECT_EQ(refusal_of_login("redis://127.0.0.1?token_file=/t"),
            "option token_file is for mqtt:// only");
  EXPECT_EQ(refusal_of_login("memcached://127.0.0.1?auth_method=X"),
            "option auth_method is for mqtt:// only");
  EXPECT_EQ(refusal_of_login("mqtt://127.0.0.1?auth_method=X"),
            "option auth_method needs token_file");
  ClusterConfig config = good_login("redis://127.0.0.1");
  config.token_file = "/t";  // by a program
  EXPECT_EQ(cluster::check_config(config)->text, "option token_file is for mqtt:// only");
  config = good_login("redis://127.0.0.1");
  config.auth_method = "X";
  EXPECT_EQ(cluster::check_config(config)->text, "option auth_method is for mqtt:// only");
}

TEST(ConfigLogin, NoSecretOfAnySourceCrossesANetworkInTheClear) {
  EXPECT_EQ(refusal_of_login("redis://u@127.0.0.1,r2?password_file=/p"),
            "the password would reach r2:6379 unencrypted, which needs allow_plain_password=1");
  EXPECT_EQ(refusal_of_login("mqtt://b1?token_file=/t"),
            "the token would reach b1:1883 unencrypted, which needs allow_plain_password=1");
  const auto wrong =
      cluster::check_config(good_login("memcached://m1"), cluster::LoginFrom::callback);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->text,
            "the password would reach m1:11211 unencrypted, which needs allow_plain_password=1");
  good_login("rediss://u@r2?password_file=/p");
  good_login("mqtt://b1?token_file=/t&allow_plain_password=1");
}

TEST(ConfigLogin, EmbeddedEnginesTakeNone) {
  for (const char* uri : {"embedded://1?password_file=/p"}) {
    EXPECT_EQ(refusal_of_login(uri), "embedded:// takes no user and no password") << uri;
  }
  EXPECT_EQ(refusal_of_login("embedded://1?token_file=/t"),
            "option token_file is for mqtt:// only");
  EXPECT_TRUE(cluster::check_config(good_login("embedded://1"), cluster::LoginFrom::callback));
}

// If the password were stored inside the object, it would remain in a moved-from configuration.
TEST(ConfigLogin, AShortPasswordMovesWithItsMemory) {
  ClusterConfig config = good_login("redis://u:pw@127.0.0.1");
  ASSERT_EQ(config.password, "pw");
  auto parsed = ClusterConfig::parse_uri("redis://u:pw@127.0.0.1");
  ASSERT_TRUE(parsed);
  const char* const bytes = parsed->password.data();
  const ClusterConfig moved = std::move(*parsed);
  EXPECT_EQ(moved.password.data(), bytes);
}

}  // namespace
}  // namespace sheaf
