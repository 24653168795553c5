// Passwords and tokens that expire, in virtual time: real clients and their credential source on
// simulated threads, with servers that accept each credential until it expires. Calls only read.

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
#include "tests/sim/kit/sim_store.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/sim_transport.h"
#include "tests/sim/kit/thread_checks.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

// Servers, and an issuer of passwords: each password lives for a while, and no two are equal.
class RotationWorld {
 public:
  static constexpr std::chrono::milliseconds life = 4s;

  explicit RotationWorld(std::uint64_t seed) : world(seed), network(world) {
    config.allow_plain_password = true;
    config.timeout = 5s;
  }
  virtual ~RotationWorld() = default;
  RotationWorld(const RotationWorld&) = delete;
  RotationWorld& operator=(const RotationWorld&) = delete;

  Credentials issue() {
    const std::string secret = "secret-" + std::to_string(++issued);
    allow(secret);
    world.after(life, [this, secret](Now) { forbid(secret); });
    Credentials credentials = as_credentials(secret);
    credentials.ends = system_clock::time_point(read_clocks().wall + life);
    return credentials;
  }
  virtual Credentials as_credentials(std::string secret) const = 0;
  Client open(CredentialSource source) {
    use_network(network, {});
    ClientOptions options;
    options.credentials = std::move(source);
    auto client = Client::open(config, std::move(options));
    check(client.has_value(), "the client does not open");
    return std::move(*client);
  }
  // Calls until `over` holds. No call may fail.
  void load(Client& client, unsigned threads, const std::function<bool()>& over) {
    std::vector<QuietThread> callers;
    for (unsigned i = 0; i < threads; ++i) {
      callers.emplace_back("caller", [&, i] {
        const std::string key = "key" + std::to_string(i);
        while (!over()) {
          const std::string value = std::to_string(++calls);
          set_and_get(client, key, value);
          pass(std::chrono::milliseconds(50 + 17 * i + calls % 200));
        }
      });
    }
    for (QuietThread& caller : callers) caller.join();
  }
  // Tries for at most a minute. True if a call succeeds.
  bool heals(Client& client) {
    for (int i = 0; i < 600; ++i) {
      if (client.get("key")) return true;
      pass(100ms);
    }
    return false;
  }

  SimWorld world;
  SimNetwork network;
  ClusterConfig config;
  unsigned issued = 0;
  unsigned calls = 0;

 private:
  virtual void allow(const std::string& secret) = 0;
  virtual void forbid(const std::string& secret) = 0;
};

// A cluster of the Redis protocol. Servers execute commands on a connection whose password has
// expired, and count them.
class PasswordWorld final : public RotationWorld {
 public:
  explicit PasswordWorld(std::uint64_t seed)
      : RotationWorld(seed), resp(network, 2, seed, {.password = "nobody has this"}) {
    config.kind = EndpointKind::redis;
    config.nodes = resp.addresses();
  }
  Credentials as_credentials(std::string secret) const override {
    return {.user = "app", .password = std::move(secret)};
  }

  SimResp resp;

 private:
  void allow(const std::string& secret) override { resp.cluster().allow(secret); }
  void forbid(const std::string& secret) override { resp.cluster().forbid(secret); }
};

// Brokers with tokens. They disconnect clients whose token has expired, as Azure's do.
class TokenWorld final : public RotationWorld {
 public:
  explicit TokenWorld(std::uint64_t seed) : RotationWorld(seed) {
    config.kind = EndpointKind::state_store;
    for (SimStore& store : stores) {
      const std::string host = "b" + std::to_string(config.nodes.size());
      network.add_server(host, 1883, store.start());
      config.nodes.push_back({host, 1883, 1});
    }
  }
  Credentials as_credentials(std::string secret) const override {
    return {.token = std::move(secret)};
  }

  SimStore stores[2]{SimStore(options()), SimStore(options())};
  unsigned cut_off = 0;

 private:
  static store::server::HostOptions options() {
    store::server::HostOptions options;
    options.logins.method = "K8S-SAT";
    return options;
  }
  void allow(const std::string& secret) override {
    for (SimStore& store : stores) store.host().allow(secret);
  }
  void forbid(const std::string& secret) override {
    for (SimStore& store : stores) cut_off += store.host().forbid(secret);
  }
};

template <class World>
std::shared_ptr<World> run(std::uint64_t seed, const std::function<void(World&)>& steps) {
  const auto world = std::make_shared<World>(seed);
  const SimThreads::Limits limits{.time = std::chrono::hours(10), .points = 1'000'000'000};
  EXPECT_EQ(SimThreads::run(world->world, seed, [world, steps] { steps(*world); }, limits), "");
  return world;
}

Client open_issuing(RotationWorld& world, unsigned& renewals) {
  return world.open([&](const CredentialRequest& request) -> Result<Credentials> {
    if (request.need == CredentialNeed::renewal) ++renewals;
    return world.issue();
  });
}

// The source is not asked again if its credentials have no end.
void stay_beyond_the_end(RotationWorld& w) {
  auto client = w.open([&](const CredentialRequest&) -> Result<Credentials> {
    Credentials credentials = w.issue();
    credentials.ends.reset();
    return credentials;
  });
  const Deadline end = w.world.now().mono + 2 * RotationWorld::life;
  for (unsigned i = 0; w.world.now().mono < end; ++i) {
    (void)client.get("key" + std::to_string(i % 8));
    pass(100ms);
  }
}

void heal_from_a_wrong_one(RotationWorld& w) {
  bool wrong = true;
  auto client = w.open([&](const CredentialRequest&) -> Result<Credentials> {
    if (wrong) return w.as_credentials("wrong");
    return w.issue();
  });
  for (int i = 0; i < 5; ++i) {
    const auto got = client.get("key");
    check(!got && got.error().reason == Reason::authentication, "it is not refused");
    pass(1s);
  }
  wrong = false;
  check(w.heals(client), "it does not heal");
  w.load(client, 2, [&] { return w.calls > 100; });
}

void outlive_the_issuer(RotationWorld& w) {
  bool sealed = false;
  auto client = w.open([&](const CredentialRequest&) -> Result<Credentials> {
    if (!sealed) return w.issue();
    Error error;
    error.text = "the vault is sealed";
    return Failure(std::move(error));
  });
  check(w.heals(client), "it does not begin");
  sealed = true;
  const Deadline end = w.world.now().mono + 3 * RotationWorld::life;
  std::optional<Error> last;
  while (w.world.now().mono < end) {
    const auto got = client.get("key");
    last = got ? std::nullopt : std::optional(got.error());
    pass(50ms);
  }
  check(last.has_value(), "a call is carried out after the end");
  check(last->reason == Reason::authentication && last->text.contains("the vault is sealed"),
        "the reason is another: " + last->message());
  sealed = false;
  check(w.heals(client), "it does not heal");
}

TEST(Rotation, AThousandPasswordsUnderLoadFailNoCall) {
  unsigned renewals = 0;
  const auto world = run<PasswordWorld>(1, [&](PasswordWorld& w) {
    auto client = open_issuing(w, renewals);
    w.load(client, 2, [&] { return renewals >= 1'000; });
  });
  EXPECT_GE(world->issued, 1'000u);
  EXPECT_GE(world->calls, 10'000u);
  EXPECT_EQ(world->resp.cluster().overdue(), 0u) << "calls with a password after its end";
  EXPECT_EQ(world->resp.log().errors("WRONGPASS"), 0u);
}

TEST(Rotation, AThousandTokensUnderLoadFailNoCallAndNoConnectionIsCutOff) {
  unsigned renewals = 0;
  const auto world = run<TokenWorld>(1, [&](TokenWorld& w) {
    auto client = open_issuing(w, renewals);
    w.load(client, 2, [&] { return renewals >= 1'000; });
  });
  EXPECT_GE(world->issued, 1'000u);
  EXPECT_GE(world->calls, 10'000u);
  EXPECT_EQ(world->cut_off, 0u) << "connections with a token after its end";
}

// The controls: a client that is not asked to renew keeps using expired credentials.
TEST(Rotation, WithoutAnEndThePasswordIsUsedAfterIt) {
  const auto world = run<PasswordWorld>(2, [&](PasswordWorld& w) { stay_beyond_the_end(w); });
  EXPECT_GT(world->resp.cluster().overdue(), 0u);
}

TEST(Rotation, WithoutAnEndTheConnectionsOfATokenAreCutOff) {
  const auto world = run<TokenWorld>(2, [&](TokenWorld& w) { stay_beyond_the_end(w); });
  EXPECT_GT(world->cut_off, 0u);
}

TEST(Rotation, AWrongPasswordAndThenARightOneHealsWithoutARestart) {
  const auto world = run<PasswordWorld>(3, [&](PasswordWorld& w) { heal_from_a_wrong_one(w); });
  EXPECT_EQ(world->resp.cluster().overdue(), 0u);
}

TEST(Rotation, AWrongTokenAndThenARightOneHealsWithoutARestart) {
  const auto world = run<TokenWorld>(3, [&](TokenWorld& w) { heal_from_a_wrong_one(w); });
  EXPECT_EQ(world->cut_off, 0u);
}

TEST(Rotation, WithoutANewPasswordCallsEndWithTheReasonAndNoneIsMadeAfterTheEnd) {
  const auto world = run<PasswordWorld>(4, [&](PasswordWorld& w) { outlive_the_issuer(w); });
  EXPECT_EQ(world->resp.cluster().overdue(), 0u);
}

TEST(Rotation, WithoutANewTokenCallsEndWithTheReason) {
  run<TokenWorld>(4, [&](TokenWorld& w) { outlive_the_issuer(w); });
}

}  // namespace
}  // namespace sheaf::sim
