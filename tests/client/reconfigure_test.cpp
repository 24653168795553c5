// Servers that a client must not contact, even if they are named later.

#include <gtest/gtest.h>

#include <string>

#include <sheaf/client.h>

namespace sheaf {
namespace {

// A client that reaches no server: its path leads nowhere.
struct Opened {
  ClusterConfig config;
  Client client;
};
Opened open(const std::string& uri, ClientOptions options = {}) {
  ClusterConfig config = ClusterConfig::parse_uri(uri).value();
  return {config, Client::open(config, std::move(options)).value()};
}
std::string refusal_to_add(Opened opened, const std::string& host) {
  const std::uint16_t port = host.starts_with("/") ? 0 : 6379;
  opened.config.nodes.push_back({host, port, 1});
  const auto changed = opened.client.reconfigure(opened.config);
  return changed ? "done" : changed.error().text;
}

const std::string socket_of_nobody = "/nowhere/server.sock?routing=ring";

TEST(Reconfigure, APasswordIsNotSentUnencryptedToAServerThatJoinsLater) {
  const std::string refused =
      "the password would reach r2.example:6379 unencrypted, which needs allow_plain_password=1";
  EXPECT_EQ(refusal_to_add(open("redis://app:s3cret@" + socket_of_nobody), "r2.example"), refused);
  ClientOptions with_source;
  with_source.credentials = [](const CredentialRequest&) -> Result<Credentials> {
    return Credentials{.user = "app", .password = "s3cret"};
  };
  EXPECT_EQ(refusal_to_add(open("redis://" + socket_of_nobody, with_source), "r2.example"),
            refused);
}

TEST(Reconfigure, AServerWithoutANetworkBetweenOrWithoutAPasswordMayJoin) {
  EXPECT_EQ(refusal_to_add(open("redis://app:s3cret@" + socket_of_nobody), "/nowhere/other.sock"),
            "done");
  EXPECT_EQ(refusal_to_add(open("redis://" + socket_of_nobody), "/nowhere/2"), "done");
}

}  // namespace
}  // namespace sheaf
