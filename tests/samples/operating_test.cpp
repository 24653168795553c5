// The rest of samples/mosquitto: the commands of its README, and the unit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <sheaf/client.h>

#include "tests/samples/shipped.h"

namespace sheaf::test {
namespace {

using testing::HasSubstr;

struct Ended {
  int status;
  std::string output;
};

// Runs it by sh and captures both streams.
Ended run(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run sh");
  std::string output;
  std::array<char, 4096> part;
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), size);
  }
  return {::pclose(pipe), output};
}

// The only block of the README that is a script.
std::string commands_of_readme() {
  const std::string text = shipped("README.md");
  const std::string fence = "```";
  const std::size_t begin = text.find(fence + "sh\n");
  if (begin == text.npos) throw std::runtime_error("README.md has no script");
  const std::size_t first = begin + fence.size() + 3;
  return text.substr(first, text.find(fence, first) - first);
}

TEST(MosquittoSample, CertificatesMadeAsTheReadmeSaysAreTaken) {
  const Folder folder;
  const std::string own = folder.path.string() + "/";
  std::ofstream(own + "script") << commands_of_readme();
  const Ended made = run("cd " + own + " && sh -eu ./script");
  ASSERT_EQ(made.status, 0) << made.output;

  ShippedTerms terms;
  terms.tls = {own + "ca.pem", own + "broker.pem", own + "broker.key"};
  const ShippedBroker broker(terms);
  for (const std::string user : {"press", "planner", "dashboard", "operator"}) {
    auto client =
        Client::open(broker.uri({own + "ca.pem", own + user + ".pem", own + user + ".key"}));
    ASSERT_TRUE(client) << client.error().message();
    const auto got = client->get("public/motd");
    EXPECT_TRUE(got) << user << ": " << got.error().message();
    EXPECT_EQ(client->set("line4/speed", "21").has_value(), user == "press");
  }
  // The broker's own certificate is not accepted as a client's.
  auto broker_itself =
      Client::open(broker.uri({own + "ca.pem", own + "broker.pem", own + "broker.key"}));
  ASSERT_TRUE(broker_itself) << broker_itself.error().message();
  EXPECT_FALSE(broker_itself->get("public/motd"));
}

TEST(MosquittoSample, SystemdKnowsEveryLineOfTheUnit) {
  if (run("command -v systemd-analyze").status != 0) GTEST_SKIP() << "there is no systemd here";
  const Folder folder;
  const std::string unit = (folder.path / "mosquitto.service").string();
  const auto verify = [&](const std::string& text) {
    std::ofstream(unit) << text;
    return run("systemd-analyze verify --man=no " + unit);
  };
  const Ended good = verify(shipped("mosquitto.service"));
  EXPECT_EQ(good.status, 0) << good.output;
  EXPECT_THAT(good.output, testing::Not(HasSubstr(unit))) << good.output;
  const Ended wrong =
      verify(with_line(shipped("mosquitto.service"), "ProtectHome=yes", "ProtectHomes=yes"));
  EXPECT_THAT(wrong.output, HasSubstr("ProtectHomes"));
}

}  // namespace
}  // namespace sheaf::test
