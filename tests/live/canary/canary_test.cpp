// After a login and some calls, a core dump of the program would not contain the secret: it is not
// in buffers, freed memory, log records, errors or statistics.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/live/canary/coded.h"
#include "tests/support/secret_folder.h"
#ifdef SHEAF_TEST_REDIS_SERVERS
#include "tests/support/lent.h"
#include "tests/support/redis_process.h"
#endif
#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"
#endif

namespace sheaf::test {
namespace {

using testing::HasSubstr;

const std::string secret = "canary-5d41402abc4b2a76b9719d911017c592";

struct Ended {
  int code = -1;
  std::string out;
};

Ended canary(const std::string& way, const std::string& server, const std::string& more = "") {
  std::string code;
  for (const char c : secret) code.push_back(coded(c));
  // In quotes; the code contains none.
  const std::string command =
      std::string(SHEAF_TEST_CANARY) + " '" + way + "' '" + server + "' '" + code + "' " + more;
  Ended run;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return run;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    run.out.push_back(static_cast<char>(c));
  }
  const int status = ::pclose(pipe);
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

void expect_no_trace(const std::string& server) {
  SecretFolder folder(secret);
  for (const std::string& way : {std::string("uri"), std::string("callback"), folder.path()}) {
    const Ended run = canary(way, server);
    EXPECT_EQ(run.code, 0) << way << "\n" << run.out;
    EXPECT_EQ(run.out, "served\n") << way;
  }
}

#ifdef SHEAF_TEST_REDIS_SERVERS
class RedisCanary : public testing::Test {
 protected:
  static RedisOptions options() {
    RedisOptions options;
    options.user = "app";
    options.password = secret;
    return options;
  }
  std::string uri() const {
    return "redis://app@127.0.0.1:" + std::to_string(server_->port()) + "?routing=ring&timeout=30s";
  }
  const Lent<RedisProcess> server_{options()};
};

TEST_F(RedisCanary, ASecretLeavesNoTraceInMemory) { expect_no_trace(uri()); }

TEST_F(RedisCanary, WhatIsLeftInMemoryIsFound) {
  const Ended run = canary("callback", uri(), "plant");
  EXPECT_EQ(run.code, 1) << run.out;
  EXPECT_THAT(run.out, HasSubstr("found in [heap]"));
}

TEST(RefusedCanary, ASecretThatIsRefusedLeavesNoTrace) {
  RedisOptions options;
  options.password = "another";
  const RedisProcess server(options);
  const std::string uri =
      "redis://app@127.0.0.1:" + std::to_string(server.port()) + "?routing=ring";
  for (const char* way : {"uri", "callback"}) {
    const Ended run = canary(way, uri);
    EXPECT_EQ(run.code, 0) << way << "\n" << run.out;
    EXPECT_THAT(run.out, HasSubstr("WRONGPASS"));
  }
}
#endif

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
void expect_no_trace_of(MemcachedOptions::LogIn way) {
  MemcachedOptions options;
  options.log_in = way;
  options.users = {{"app", secret}};
  const MemcachedProcess server(options);
  expect_no_trace("memcached://app@127.0.0.1:" + std::to_string(server.port()) + "?timeout=30s");
}

TEST(MemcachedCanary, ASecretOfSaslLeavesNoTraceInMemory) {
  expect_no_trace_of(MemcachedOptions::LogIn::sasl);
}

TEST(MemcachedCanary, ASecretOfTheTextProtocolLeavesNoTraceInMemory) {
  expect_no_trace_of(MemcachedOptions::LogIn::text);
}
#endif

#ifdef SHEAF_TEST_BROKERS
TEST(BrokerCanary, ASecretLeavesNoTraceInMemory) {
  BrokerOptions options;
  options.users = {{"app", secret}};
  const BrokerProcess server(options);
  expect_no_trace("mqtt://app@127.0.0.1:" + std::to_string(server.port()) + "?timeout=30s");
}
#endif

}  // namespace
}  // namespace sheaf::test
