// Every operation on a real memcached gives the same outcomes in both protocols.

#include <gtest/gtest.h>

#include "tests/live/memcached/connection.h"
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"

namespace sheaf::protocol::memcached {
namespace {

using test::MemcachedProcess;

template <class SessionType>
class Operations : public testing::Test {
 protected:
  Seen run(const Operation& operation) { return connection.run(operation); }
  std::string key() const { return testing::UnitTest::GetInstance()->current_test_info()->name(); }

  const test::Lent<MemcachedProcess> server;
  Connection<SessionType> connection{server->port()};
};

struct ProtocolNames {
  template <class SessionType>
  static std::string GetName(int) {
    return std::is_same_v<SessionType, BinarySession> ? "Binary" : "Meta";
  }
};
using Protocols = testing::Types<BinarySession, MetaSession>;
TYPED_TEST_SUITE(Operations, Protocols, ProtocolNames);

constexpr bool is_meta(const MetaSession&) { return true; }
constexpr bool is_meta(const BinarySession&) { return false; }

TYPED_TEST(Operations, TheServerReportsItsVersion) {
  ASSERT_TRUE(this->connection.session.ready()) << this->connection.session.close_reason().text;
  const Seen version = this->run(operation(Verb::server_version));
  EXPECT_EQ(version.status, Status::done);
  EXPECT_EQ(ServerVersion::parse(version.value), this->connection.session.server().version);
  EXPECT_EQ(this->run(operation(Verb::probe)).status, Status::done);
}

TYPED_TEST(Operations, SetGetAndRemoveWithFlagsAndAnyBytes) {
  const std::string key = this->key();
  EXPECT_EQ(this->run(get(key)).status, Status::absent);
  const std::string value = "a\r\nEN\r\n\0\xff"s;
  Operation store = set(key, value);
  store.flags = 0xffffffff;
  const Seen stored = this->run(store);
  EXPECT_EQ(stored.status, Status::done);
  const Seen got = this->run(get(key));
  EXPECT_EQ(got.value, value);
  EXPECT_EQ(got.flags, 0xffffffffu);
  EXPECT_EQ(got.version, stored.version);
  EXPECT_FALSE(got.version.empty());
  EXPECT_EQ(this->run(set(key, "")).status, Status::done);
  const Seen empty = this->run(get(key));
  EXPECT_EQ(empty.status, Status::done);
  EXPECT_EQ(empty.value, "");
  EXPECT_EQ(this->run(operation(Verb::remove, key)).status, Status::done);
  EXPECT_EQ(this->run(operation(Verb::remove, key)).status, Status::absent);
  EXPECT_EQ(this->run(get(key)).status, Status::absent);
}

TYPED_TEST(Operations, ConditionsOnPresenceAndVersion) {
  const std::string key = this->key();
  EXPECT_EQ(this->run(with(set(key, "0"), Condition::if_present)).status, Status::not_stored);
  EXPECT_EQ(this->run(if_version(set(key, "0"), "999999")).status, Status::absent);
  const Seen added = this->run(with(set(key, "1"), Condition::if_absent));
  EXPECT_EQ(added.status, Status::done);
  EXPECT_EQ(this->run(with(set(key, "2"), Condition::if_absent)).status, Status::not_stored);
  EXPECT_EQ(this->run(get(key)).value, "1");
  const Seen swapped = this->run(if_version(set(key, "3"), added.version));
  EXPECT_EQ(swapped.status, Status::done);
  EXPECT_NE(swapped.version, added.version);
  EXPECT_EQ(this->run(if_version(set(key, "4"), added.version)).status, Status::not_stored);
  EXPECT_EQ(this->run(with(set(key, "5"), Condition::if_present)).status, Status::done);
  EXPECT_EQ(this->run(if_version(operation(Verb::remove, key), added.version)).status,
            Status::not_stored);
  const std::string version = this->run(get(key)).version;
  EXPECT_EQ(this->run(if_version(operation(Verb::remove, key), version)).status, Status::done);
  EXPECT_EQ(this->run(if_version(operation(Verb::remove, key), version)).status, Status::absent);
}

TYPED_TEST(Operations, AppendAndPrepend) {
  const std::string key = this->key();
  EXPECT_EQ(this->run(operation(Verb::append, key, "c")).status, Status::not_stored);
  EXPECT_EQ(this->run(operation(Verb::prepend, key, "a")).status, Status::not_stored);
  this->run(set(key, "b"));
  EXPECT_EQ(this->run(operation(Verb::append, key, "c")).status, Status::done);
  const Seen prepended = this->run(operation(Verb::prepend, key, "a"));
  EXPECT_EQ(prepended.status, Status::done);
  const Seen got = this->run(get(key));
  EXPECT_EQ(got.value, "abc");
  EXPECT_EQ(got.version, prepended.version);
}

TYPED_TEST(Operations, Numbers) {
  const std::string key = this->key();
  EXPECT_EQ(this->run(operation(Verb::increment, key)).status, Status::absent);
  Operation create = operation(Verb::increment, key);
  create.initial = 99;
  create.delta = 5;
  EXPECT_EQ(this->run(create).number, 99u) << "the delta does not change a new one";
  EXPECT_EQ(this->run(create).number, 104u);
  Operation down = operation(Verb::decrement, key);
  down.delta = 5;
  const Seen number = this->run(down);
  EXPECT_EQ(number.number, 99u);
  EXPECT_FALSE(number.version.empty());
  EXPECT_EQ(this->run(operation(Verb::decrement, key)).number, 98u);
  down.delta = 1'000;
  EXPECT_EQ(this->run(down).number, 0u) << "not below 0";
  this->run(set(key, "18446744073709551615"));
  EXPECT_EQ(this->run(operation(Verb::increment, key)).number, 0u) << "it wraps around";
  this->run(set(key, "not a number"));
  const Seen refused = this->run(operation(Verb::increment, key));
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_EQ(refused.reason, Reason::wrong_type);
  EXPECT_EQ(this->run(get(key)).value, "not a number") << "the connection lives";
}

TYPED_TEST(Operations, TimesToLive) {
  const std::string key = this->key();
  EXPECT_EQ(this->run(living(operation(Verb::touch, key), 60s)).status, Status::absent);
  EXPECT_EQ(this->run(living(operation(Verb::get_and_touch, key), 60s)).status, Status::absent);
  // All of these leave the value there.
  for (const std::chrono::milliseconds ttl :
       {0ms, std::chrono::milliseconds(60s), std::chrono::milliseconds(30 * 24h),
        std::chrono::milliseconds(30 * 24h) + 1ms, std::chrono::milliseconds(365 * 24h)}) {
    EXPECT_EQ(this->run(living(set(key, "v"), ttl)).status, Status::done);
    EXPECT_EQ(this->run(get(key)).value, "v") << ttl.count();
    EXPECT_EQ(this->run(living(operation(Verb::touch, key), ttl)).status, Status::done);
    const Seen got = this->run(living(operation(Verb::get_and_touch, key), ttl));
    EXPECT_EQ(got.value, "v") << ttl.count();
    EXPECT_FALSE(got.version.empty());
  }
}

TYPED_TEST(Operations, KeysOfAllLengthsAndBytes) {
  std::string all;
  for (int byte = 0; byte < 186; ++byte) all.push_back(static_cast<char>(byte));
  std::string rest;
  for (int byte = 128; byte < 256; ++byte) rest.push_back(static_cast<char>(byte));
  for (const std::string& key :
       {all, rest, std::string(250, 'k'), std::string(1, ' '), "k\r\nflush_all\r\n"s, "\0"s}) {
    EXPECT_EQ(this->run(set(key, "mine")).status, Status::done);
    EXPECT_EQ(this->run(get(key)).value, "mine");
    EXPECT_EQ(this->run(operation(Verb::remove, key)).status, Status::done);
    EXPECT_EQ(this->run(get(key)).status, Status::absent);
  }
}

TYPED_TEST(Operations, TheLargestValueAndOneByteMore) {
  const std::string key = "k";
  const std::string largest(1'048'516, 'v');
  EXPECT_EQ(this->run(set(key, largest)).status, Status::done);
  EXPECT_EQ(this->run(get(key)).value, largest);
  SessionOptions unlimited;
  unlimited.item_size = 16u << 20;
  Connection<TypeParam> daring(this->server->port(), unlimited);
  const std::string larger = largest + "v";
  const Seen refused = daring.run(set(key, larger));
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_EQ(refused.reason, Reason::too_large);
  EXPECT_EQ(daring.run(get(key)).status, Status::absent) << "the server removes what it had";
}

TYPED_TEST(Operations, ManyAtOnceEachGetsItsOwn) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 300; ++i) keys.push_back(this->key() + std::to_string(i));
  std::vector<Operation> writes;
  std::vector<Operation> reads;
  for (std::size_t i = 0; i < 300; ++i) {
    if (i % 3 != 0) writes.push_back(set(keys[i], keys[i]));
    reads.push_back(get(keys[i]));
  }
  for (const Seen& stored : this->connection.run(writes)) EXPECT_EQ(stored.status, Status::done);
  const std::vector<Seen> read = this->connection.run(reads);
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(read[i].status, i % 3 == 0 ? Status::absent : Status::done) << i;
    EXPECT_EQ(read[i].value, i % 3 == 0 ? "" : keys[i]);
  }
}

// More than the kernel's buffers hold: a client that wrote everything before it read would wait
// forever.
TYPED_TEST(Operations, ABatchOfLargeValuesIsReadWhileItIsWritten) {
  const std::string value(200'000, 'v');
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back(this->key() + std::to_string(i % 10));
  std::vector<Operation> mixed;
  for (const std::string& key : keys) {
    mixed.push_back(set(key, value));
    mixed.push_back(get(key));
  }
  SessionOptions options;
  options.output_limit = 1u << 30;
  Connection<TypeParam> wide(this->server->port(), options);
  const std::vector<Seen> seen = wide.run(mixed);
  for (std::size_t i = 1; i < seen.size(); i += 2) EXPECT_EQ(seen[i].value.size(), value.size());
}

TYPED_TEST(Operations, Statistics) {
  const Seen general = this->run(operation(Verb::stats));
  EXPECT_NE(general.value.find("pid " + std::to_string(this->server->pid()) + "\n"),
            std::string::npos);
  for (const char* group : {"settings", "items", "slabs", "sizes"}) {
    EXPECT_EQ(this->run(operation(Verb::stats, group)).status, Status::done) << group;
  }
  // The binary protocol has no words for the connections.
  const Seen connections = this->run(operation(Verb::stats, "conns"));
  const bool meta = is_meta(this->connection.session);
  EXPECT_EQ(connections.status, meta ? Status::done : Status::refused);
  if (!meta) {
    EXPECT_EQ(connections.text, "no such group of statistics");
  }
  EXPECT_NE(this->run(operation(Verb::stats, "settings")).value.find("item_size_max 1048576\n"),
            std::string::npos);
  EXPECT_EQ(this->run(operation(Verb::probe)).status, Status::done);
}

TYPED_TEST(Operations, LeasesAreWonOnceAndTheCasOfAWinnerStores) {
  const std::string key = this->key();
  const Operation lease = living(operation(Verb::lease, key), 30s);
  if (!is_meta(this->connection.session)) {
    const auto refused = this->connection.session.submit(lease, this->connection.now());
    EXPECT_EQ(refused.error().outcome, Outcome::unsupported);
    return;
  }
  const Seen won = this->run(lease);
  EXPECT_EQ(won.status, Status::absent);
  EXPECT_EQ(won.lease, Lease::won);
  for (const Operation& other : {lease, get(key)}) {
    const Seen taken = this->run(other);
    EXPECT_EQ(taken.status, Status::absent);
    EXPECT_EQ(taken.lease, Lease::taken);
  }
  EXPECT_EQ(this->run(if_version(set(key, "computed"), won.version)).status, Status::done);
  EXPECT_EQ(this->run(if_version(set(key, "late"), won.version)).status, Status::not_stored);
  const Seen got = this->run(lease);
  EXPECT_EQ(got.value, "computed");
  EXPECT_EQ(got.lease, Lease::none);
}

// One protocol reads what the other writes, under the same key.
TEST(BothProtocols, ShareKeysValuesFlagsAndVersions) {
  const test::Lent<MemcachedProcess> server;
  Connection<BinarySession> binary(server->port());
  Connection<MetaSession> meta(server->port());
  for (const std::string& key : {"plain"s, "with blank"s, "\r\n\0"s}) {
    Operation store = set(key, "value");
    store.flags = 77;
    const Seen stored = binary.run(store);
    const Seen got = meta.run(get(key));
    EXPECT_EQ(got.value, "value");
    EXPECT_EQ(got.flags, 77u);
    EXPECT_EQ(got.version, stored.version);
    EXPECT_EQ(meta.run(if_version(operation(Verb::remove, key), stored.version)).status,
              Status::done);
    EXPECT_EQ(binary.run(get(key)).status, Status::absent);
  }
}

// A value that another client has marked as stale.
TEST(BothProtocols, AStaleValueIsReportedAsThatInMeta) {
  const test::Lent<MemcachedProcess> server;
  Connection<MetaSession> meta(server->port());
  meta.run(set("k", "old"));
  // sheaf cannot invalidate, so a line of another client does.
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::send(fd, "md k I T30\r\n", 12, MSG_NOSIGNAL), 12);
  char answer[4];
  ASSERT_EQ(::recv(fd, answer, sizeof answer, MSG_WAITALL), 4);
  ::close(fd);
  const Seen winner = meta.run(get("k"));
  EXPECT_EQ(winner.value, "old");
  EXPECT_TRUE(winner.stale);
  EXPECT_EQ(winner.lease, Lease::won);
  const Seen other = meta.run(get("k"));
  EXPECT_TRUE(other.stale);
  EXPECT_EQ(other.lease, Lease::taken);
}

}  // namespace
}  // namespace sheaf::protocol::memcached
