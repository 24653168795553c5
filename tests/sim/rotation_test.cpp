// Passwords that end, in virtual time: real clients and their source on simulated threads, with
// model servers that take each password until its end.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "base/quiet_thread.h"
#include "base/read_clocks.h"
#include "tests/sim/kit/sim_resp.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/sim_transport.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

// Servers, and an issuer of passwords: each lives for a while, and no two are the same.
class RotationWorld {
 public:
  static constexpr std::chrono::milliseconds life = 4s;

  explicit RotationWorld(std::uint64_t seed)
      : world(seed), network(world), resp(network, 2, seed, {.password = "nobody has this"}) {
    config.kind = EndpointKind::redis;
    config.nodes = resp.addresses();
    config.allow_plain_password = true;
    config.timeout = 5s;
  }

  Credentials issue() {
    const std::string password = "password-" + std::to_string(++issued);
    resp.cluster().allow(password);
    world.after(life, [this, password](Now) { resp.cluster().forbid(password); });
    const auto ends = system_clock::time_point(read_clocks().wall + life);
    return Credentials{.user = "app", .password = password, .ends = ends};
  }
  Client open(CredentialSource source) {
    use_network(network, {});
    ClientOptions options;
    options.credentials = std::move(source);
    auto client = Client::open(config, std::move(options));
    check(client.has_value(), "the client does not open");
    return std::move(*client);
  }
  // Calls until `over` holds. None may fail.
  void load(Client& client, unsigned threads, const std::function<bool()>& over) {
    std::vector<QuietThread> callers;
    for (unsigned i = 0; i < threads; ++i) {
      callers.emplace_back("caller", [&, i] {
        const std::string key = "key" + std::to_string(i);
        while (!over()) {
          const std::string value = std::to_string(++calls);
          const auto set = client.set(key, value);
          check(set.has_value(), "a set failed: " + (set ? "" : set.error().message()));
          const auto got = client.get(key);
          check(got.has_value(), "a get failed: " + (got ? "" : got.error().message()));
          check(*got && (*got)->data == value, "another value came back");
          pass(std::chrono::milliseconds(50 + 17 * i + calls % 200));
        }
      });
    }
    for (QuietThread& caller : callers) caller.join();
  }
  // Until it works, or for a minute.
  bool heals(Client& client) {
    for (int i = 0; i < 600; ++i) {
      if (client.get("key")) return true;
      pass(100ms);
    }
    return false;
  }
  static void pass(std::chrono::nanoseconds time) { SimThreads::current()->pass(time); }
  static void check(bool holds, const std::string& finding) {
    if (!holds) SimThreads::current()->fail(finding);
  }

  SimWorld world;
  SimNetwork network;
  SimResp resp;
  ClusterConfig config;
  unsigned issued = 0;
  unsigned calls = 0;
};

std::shared_ptr<RotationWorld> run(std::uint64_t seed,
                                   const std::function<void(RotationWorld&)>& steps) {
  const auto world = std::make_shared<RotationWorld>(seed);
  const SimThreads::Limits limits{.time = std::chrono::hours(10), .points = 1'000'000'000};
  EXPECT_EQ(SimThreads::run(world->world, seed, [world, steps] { steps(*world); }, limits), "");
  return world;
}

TEST(Rotation, AThousandPasswordsUnderLoadFailNoCall) {
  unsigned renewals = 0;
  const auto world = run(1, [&](RotationWorld& w) {
    auto client = w.open([&](const CredentialRequest& request) -> Result<Credentials> {
      if (request.need == CredentialNeed::renewal) ++renewals;
      return w.issue();
    });
    w.load(client, 2, [&] { return renewals >= 1'000; });
  });
  EXPECT_GE(world->issued, 1'000u);
  EXPECT_GE(world->calls, 10'000u);
  EXPECT_EQ(world->resp.cluster().overdue(), 0u) << "calls with a password after its end";
  EXPECT_EQ(world->resp.log().errors("WRONGPASS"), 0u);
}

// The control: who is not asked again goes on with a password that has ended.
TEST(Rotation, WithoutAnEndThePasswordIsUsedAfterIt) {
  const auto world = run(2, [&](RotationWorld& w) {
    auto client = w.open([&](const CredentialRequest&) -> Result<Credentials> {
      Credentials credentials = w.issue();
      credentials.ends.reset();
      return credentials;
    });
    const Deadline end = w.world.now().mono + 2 * RotationWorld::life;
    w.load(client, 2, [&, end] { return w.world.now().mono > end; });
  });
  EXPECT_GT(world->resp.cluster().overdue(), 0u);
}

TEST(Rotation, AWrongPasswordAndThenARightOneHealsWithoutARestart) {
  const auto world = run(3, [&](RotationWorld& w) {
    bool wrong = true;
    auto client = w.open([&](const CredentialRequest&) -> Result<Credentials> {
      if (wrong) return Credentials{.user = "app", .password = "wrong"};
      return w.issue();
    });
    for (int i = 0; i < 5; ++i) {
      const auto got = client.get("key");
      w.check(!got && got.error().reason == Reason::authentication, "it is not refused");
      w.pass(1s);
    }
    wrong = false;
    w.check(w.heals(client), "it does not heal");
    w.load(client, 2, [&] { return w.calls > 100; });
  });
  EXPECT_EQ(world->resp.cluster().overdue(), 0u);
}

TEST(Rotation, WithoutANewPasswordCallsEndWithTheReasonAndNoneIsMadeAfterTheEnd) {
  const auto world = run(4, [&](RotationWorld& w) {
    bool sealed = false;
    auto client = w.open([&](const CredentialRequest&) -> Result<Credentials> {
      if (!sealed) return w.issue();
      Error error;
      error.text = "the vault is sealed";
      return Failure(std::move(error));
    });
    w.check(w.heals(client), "it does not begin");
    sealed = true;
    const Deadline end = w.world.now().mono + 3 * RotationWorld::life;
    std::optional<Error> last;
    while (w.world.now().mono < end) {
      const auto got = client.get("key");
      last = got ? std::nullopt : std::optional(got.error());
      w.pass(50ms);
    }
    w.check(last.has_value(), "a call is carried out after the end");
    w.check(last->reason == Reason::authentication && last->text.contains("the vault is sealed"),
            "the reason is another: " + last->message());
    sealed = false;
    w.check(w.heals(client), "it does not heal");
  });
  EXPECT_EQ(world->resp.cluster().overdue(), 0u);
}

}  // namespace
}  // namespace sheaf::sim
