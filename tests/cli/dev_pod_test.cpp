// The pure parts of `sheaf dev --tls --token`, and the files that it writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/dev/certificates.h"
#include "cli/dev/dev_token.h"
#include "cli/dev/mounted_folder.h"
#include "cli/dev/pod_environment.h"
#include "cli/dev/pod_files.h"
#include "cli/dev/rotation.h"
#include "tests/support/temporary_folder.h"

namespace sheaf::cli {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr Deadline step_zero = 1'000s;
constexpr std::chrono::seconds wall{1'767'225'600};

TEST(DevRotation, NothingIsEverReplacedWithAPeriodOfZero) {
  Rotation rotation(0s, step_zero);
  EXPECT_LT(rotation.pause(step_zero), 0ms);
  EXPECT_FALSE(rotation.due(step_zero));
  EXPECT_FALSE(rotation.due(step_zero + 24h));
}

TEST(DevRotation, AStepBeginsAfterEachPeriod) {
  Rotation rotation(10s, step_zero);
  EXPECT_EQ(rotation.pause(step_zero), 10s);
  EXPECT_FALSE(rotation.due(step_zero + 9'999ms));
  EXPECT_EQ(rotation.pause(step_zero + 9'999'500us), 1ms) << "never too early";
  EXPECT_EQ(rotation.due(step_zero + 10s), rotation_step(1));
  EXPECT_FALSE(rotation.due(step_zero + 10s));
  EXPECT_EQ(rotation.due(step_zero + 20s), rotation_step(2));
}

TEST(DevRotation, ALateStepMovesTheLaterOnes) {
  Rotation rotation(10s, step_zero);
  EXPECT_EQ(rotation.pause(step_zero + 1h), 0ms);
  EXPECT_EQ(rotation.due(step_zero + 1h), rotation_step(1)) << "one step, not all that were missed";
  EXPECT_FALSE(rotation.due(step_zero + 1h + 9s)) << "none is shorter than the period";
  EXPECT_EQ(rotation.due(step_zero + 1h + 10s), rotation_step(2));
}

// A client may have read the files of the step before, and the brokers may still have theirs.
TEST(DevRotation, WhatOneStepUsesTheStepsNextToItAccept) {
  for (std::uint64_t n = 0; n < 20; ++n) {
    const RotationStep now = rotation_step(n);
    const RotationStep next = rotation_step(n + 1);
    EXPECT_NE(now.token, next.token);
    EXPECT_NE(now.signer, next.signer);
    EXPECT_LE(next.oldest_token, now.token);
    EXPECT_GE(now.newest_authority, next.signer);
    EXPECT_LE(next.oldest_authority, now.signer);
    const RotationStep after = rotation_step(n + 2);
    EXPECT_GT(after.oldest_token, now.token);
    EXPECT_GT(after.oldest_authority, now.signer);
  }
}

TEST(DevToken, ItReadsAsATokenOfAServiceAccount) {
  const std::string token = dev_token("\xfb\xff secret", 100s, 160s);
  EXPECT_EQ(token.find_first_of("+/= \n"), token.npos);
  std::string claims = token.substr(token.find('.') + 1);
  EXPECT_EQ(std::ranges::count(token, '.'), 2);
  claims.erase(claims.find('.'));
  while (claims.size() % 4 != 0) claims += '=';
  const std::string text = base64_decode(claims).value_or("");
  EXPECT_THAT(text, HasSubstr(R"("aud":["aio-internal"],"exp":160,"iat":100,)"));
  EXPECT_NE(token, dev_token("\xfb\xff secreT", 100s, 160s));
}

TEST(PodEnvironment, EveryVariableOfALoginIsSetOrUnset) {
  const auto both = pod_environment({.authorities = "/d/ca.crt", .token = "/d/token"}, 4'711);
  EXPECT_THAT(both, Contains("AIO_BROKER_HOSTNAME=127.0.0.1"));
  EXPECT_THAT(both, Contains("AIO_BROKER_TCP_PORT=4711"));
  EXPECT_THAT(both, Contains("AIO_MQTT_USE_TLS=true"));
  EXPECT_THAT(both, Contains("AIO_TLS_CA_FILE=/d/ca.crt"));
  EXPECT_THAT(both, Contains("AIO_SAT_FILE=/d/token"));
  EXPECT_THAT(both, Contains("AIO_MQTT_USERNAME"));
  const auto token = pod_environment({.authorities = "", .token = "/d/token"}, 1);
  EXPECT_THAT(token, Contains("AIO_MQTT_USE_TLS=false"));
  EXPECT_THAT(token, Contains("AIO_TLS_CA_FILE"));
  const auto tls = pod_environment({.authorities = "/d/ca.crt", .token = ""}, 1);
  EXPECT_THAT(tls, Contains("AIO_SAT_FILE"));
}

TEST(PodEnvironment, PathsAreWrittenAsAUriAndAShellReadThem) {
  EXPECT_EQ(pod_uri_options({.authorities = "", .token = ""}), "");
  EXPECT_EQ(pod_uri_options({.authorities = "", .token = "/d/t-1.x"}), "?token_file=/d/t-1.x");
  EXPECT_EQ(pod_uri_options({.authorities = "/a&b c%", .token = "/t"}),
            "?tls_ca=/a%26b%20c%25&token_file=/t");
  EXPECT_THAT(shell_lines({"A=/d/x-1", "B", "C=it's $x", "D"}),
              ElementsAre("export A=/d/x-1", R"(export C='it'\''s $x')", "unset B D"));
}

class PodFolders : public testing::Test {
 protected:
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
  static bool is_private(const fs::path& path) {
    return (fs::status(path).permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
           fs::perms::none;
  }

  test::TemporaryFolder made_;
};

TEST_F(PodFolders, FilesOfAFolderAreReplacedTogetherAndOnlyTheLastTwoVersionsStay) {
  MountedFolder folder(made_.path() / "mount");
  for (const char* text : {"1", "2", "3", "4"}) {
    ASSERT_TRUE(folder.replace({{"a", text}, {"b", text}}));
    EXPECT_EQ(read(folder.file("a")), text);
    EXPECT_EQ(read(folder.file("b")), text);
    EXPECT_TRUE(is_private(folder.file("a")));
  }
  EXPECT_EQ(fs::read_symlink(folder.file("a")), "..data/a");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "..data"));
  const auto entries = std::distance(fs::directory_iterator(folder.path()), {});
  EXPECT_EQ(entries, 5) << "two links, ..data and two versions";
}

TEST_F(PodFolders, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(made_.path() / "mount") << "a file";
  MountedFolder folder(made_.path() / "mount");
  const auto done = folder.replace({{"a", "1"}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), "cannot write " + (made_.path() / "mount").string() + ".");
}

TEST_F(PodFolders, ATokenIsAcceptedForOneMoreStep) {
  PodFiles files({.tls = false, .token = true, .period = 10s}, made_.path());
  std::vector<std::string> tokens;
  for (std::uint64_t n = 0; n < 4; ++n) {
    ASSERT_TRUE(files.write(rotation_step(n), wall));
    const std::string accepted = read(files.broker().tokens);
    tokens.push_back(read(files.settings().token));
    EXPECT_EQ(count(accepted, "\n"), n == 0 ? 1u : 2u);
    EXPECT_THAT(accepted, HasSubstr(tokens.back() + "\n"));
    if (n >= 1) {
      EXPECT_THAT(accepted, HasSubstr(tokens[n - 1]));
    }
    if (n >= 2) {
      EXPECT_THAT(accepted, Not(HasSubstr(tokens[n - 2])));
    }
  }
  EXPECT_TRUE(files.broker().certificate.empty());
  EXPECT_TRUE(files.settings().authorities.empty());
}

TEST_F(PodFolders, TheBundleChangesWithEachStepAndHasTheAuthoritiesNextToTheSigner) {
  if (!has_certificates) GTEST_SKIP() << "built without TLS";
  PodFiles files({.tls = true, .token = false, .period = 10s}, made_.path());
  std::vector<std::string> bundles;
  for (std::uint64_t n = 0; n < 4; ++n) {
    ASSERT_TRUE(files.write(rotation_step(n), wall));
    bundles.push_back(read(files.settings().authorities));
    EXPECT_EQ(count(bundles.back(), "BEGIN CERTIFICATE"), n == 0 ? 2u : 3u);
    EXPECT_THAT(read(files.broker().key), HasSubstr("PRIVATE KEY"));
    EXPECT_EQ(count(bundles.back(), "PRIVATE KEY"), 0u);
    if (n > 0) {
      EXPECT_NE(bundles[n], bundles[n - 1]);
    }
  }
  EXPECT_TRUE(files.broker().tokens.empty());
}

}  // namespace
}  // namespace sheaf::cli
