// A name with two addresses. At the first one connections are accepted and nothing is answered, as
// by a process that is stopped.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "tests/live/tls/real_servers.h"
#include "tests/support/listener.h"
#include "tests/support/names.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class DeafFirstAddress : public testing::TestWithParam<RealKind> {
 protected:
  // The server behind the second address is used soon.
  static void expect_use(const std::string& uri, std::uint16_t port) {
    const DeafServer deaf("127.0.0.4", port);
    Names::instance().lead("two.sheaf.test", {"127.0.0.4", "127.0.0.1"});
    auto client = Client::open(uri).value();
    const auto end = Clock::now() + 20s;
    for (;;) {
      const auto set = client.set("key", "value");
      if (set) break;
      ASSERT_LT(Clock::now(), end) << set.error().message();
    }
  }
  std::string uri(std::string scheme, std::uint16_t port) const {
    return scheme.append("://two.sheaf.test:") + std::to_string(port) + "?timeout=1s" +
           GetParam().alone;
  }
};

// One kind, because all are dialed by the same code, and each waits for an attempt to fail.
std::vector<RealKind> one_kind() {
  auto kinds = real_kinds();
  if (kinds.size() > 1) kinds.resize(1);
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(One, DeafFirstAddress, testing::ValuesIn(one_kind()),
                         [](const auto& test) { return test.param.name; });

TEST_P(DeafFirstAddress, DoesNotHideTheServer) {
  const RealServer server = GetParam().start({});
  const std::string& scheme = GetParam().scheme;
  expect_use(uri(scheme.substr(0, scheme.size() - 1), server.port), server.port);
}

TEST_P(DeafFirstAddress, DoesNotHideTheServerOverTls) {
  const Credentials& all = Credentials::shared();
  const RealServer server = GetParam().start({.paths = &all.server()});
  expect_use(uri(GetParam().scheme, server.port) + "&tls_name=127.0.0.1&" + all.options(),
             server.port);
}

}  // namespace
}  // namespace sheaf::test
