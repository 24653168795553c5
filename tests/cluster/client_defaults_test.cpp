// The default placements of other memcached clients. The numbers come from those clients
// themselves: libmemcached 1.1.4, pymemcache 3.5.2 and 4.0.0, dalli
// 3.0.6, 3.2.8 and 5.2.1; all versions of a client gave the same. If one of these tests fails, a
// key of that client is not found: do not change the numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/sha1.h"
#include "cluster/placement/key_hashes.h"
#include "cluster/placement/modula_locator.h"
#include "cluster/placement/pymemcache_locator.h"
#include "cluster/placement/shared_ring.h"
#include "tests/cluster/ring_routes.h"
#include "tests/cluster/texts_to_hash.h"

namespace sheaf::cluster {
namespace {

using ServerList = std::vector<NodeConfig>;

// The default port and others, names and addresses.
ServerList three_servers() {
  return {{"10.0.1.1", 11211, 1}, {"10.0.1.2", 11212, 1}, {"10.0.1.3", 11211, 1}};
}
ServerList five_servers() {
  return {{"cache-a", 11211, 1},
          {"cache-b.example", 11212, 1},
          {"10.0.1.3", 11211, 1},
          {"2001:db8::4", 22122, 1},
          {"10.0.1.5", 11211, 1}};
}
ServerList weighted(ServerList nodes, const std::vector<std::uint32_t>& weights) {
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].weight = weights[i];
  return nodes;
}

std::unique_ptr<const ClientNodeLocator> locator_of(RingProfile ring, const ServerList& nodes) {
  ClusterConfig config;
  config.kind = EndpointKind::memcached;
  config.nodes = nodes;
  config.locator = LocatorKind::ring;
  config.ring = ring;
  return make_locator(config);
}

struct AllServersBut final : NodeFilter {
  explicit AllServersBut(std::uint32_t node) : down(node) {}
  bool takes(std::uint32_t node) const noexcept override { return node != down; }
  std::uint32_t down;
};
struct NoServer final : NodeFilter {
  bool takes(std::uint32_t /*node*/) const noexcept override { return false; }
};

// As route(), while a server is down.
std::string route_without(std::uint32_t down, const ClientNodeLocator& locator) {
  std::string nodes;
  for (unsigned i = 0; i < route_keys; ++i) {
    nodes += static_cast<char>('0' + locator.stand_in(ring_key(i), AllServersBut(down)));
  }
  return nodes;
}

// The servers of the first 80 keys, and the hash of those of 20,000.
void expect_servers(const std::string& nodes, std::string_view first, std::uint64_t all) {
  EXPECT_EQ(nodes.substr(0, 80), first);
  EXPECT_EQ(hash64(nodes), all);
}

TEST(ClientDefaultsGolden, Modula) {
  expect_servers(route(*locator_of(RingProfile::modula, three_servers())),
                 "1000000102200000022111111111121000000001"
                 "1100000221000000000000000000010100021111",
                 0x21a48cd93dfd8b83u);
  expect_servers(route(*locator_of(RingProfile::modula, five_servers())),
                 "1123311332002434423200333222340423431003"
                 "0134102143210400242211200124321224230033",
                 0x70c69166a875e455u);
}

TEST(ClientDefaultsGolden, Pymemcache) {
  expect_servers(route(*locator_of(RingProfile::pymemcache, three_servers())),
                 "1011120212010110200222001002201120120211"
                 "2201220011112000011121220221202111012212",
                 0x9d9dbd46c625a096u);
  expect_servers(route(*locator_of(RingProfile::pymemcache, five_servers())),
                 "3022322301401124404014304214101233443203"
                 "2221401030342440142311021421142114041402",
                 0x69dd8492f00e3d12u);
}

TEST(ClientDefaultsGolden, Dalli) {
  expect_servers(route(*locator_of(RingProfile::dalli, three_servers())),
                 "1101000101210121002001021201102102121102"
                 "0210000010110012002101111112122220010022",
                 0xf007fe120de21295u);
  expect_servers(route(*locator_of(RingProfile::dalli, five_servers())),
                 "4430143304441423231113323243131032422110"
                 "2011100241344312313304021402101314213024",
                 0x70a631fa345fa0e2u);
}

TEST(ClientDefaultsGolden, DalliWithWeights) {
  expect_servers(route(*locator_of(RingProfile::dalli, weighted(three_servers(), {2, 1, 4}))),
                 "2102000202220222022002222222002202222102"
                 "0222202220120012002201111122122222022022",
                 0x4fcd80121e48f637u);
  const ServerList nodes = weighted(five_servers(), {1, 3, 2, 5, 1});
  expect_servers(route(*locator_of(RingProfile::dalli, nodes)),
                 "4331133343131323231111323243133031232313"
                 "3131130241334312313334021402131334313023",
                 0x30cde62d6e907d8eu);
  EXPECT_EQ(SharedRing(RingProfile::dalli, nodes).points().size(), 798u);
}

// Where pymemcache and dalli look for a key while the second server is down.
TEST(ClientDefaultsGolden, StandInsAreThoseOfTheOtherClient) {
  expect_servers(route_without(1, *locator_of(RingProfile::pymemcache, three_servers())),
                 "0022220222020220200222000002202020220202"
                 "2200220000202000002220220220202200002202",
                 0xa2d7b810d995de56u);
  expect_servers(route_without(1, *locator_of(RingProfile::pymemcache, five_servers())),
                 "3022322302403224404034304204404233443203"
                 "2224404030342440242322023423442044042402",
                 0xc23ce3de00b0da71u);
  expect_servers(route_without(1, *locator_of(RingProfile::dalli, three_servers())),
                 "2202000000200022002000022202002002220002"
                 "0220000000020022002000020022022220020022",
                 0x60e06f8769eaf660u);
  const ServerList nodes = weighted(five_servers(), {1, 3, 2, 5, 1});
  expect_servers(route_without(1, *locator_of(RingProfile::dalli, nodes)),
                 "4333333343233323233303323243033033232333"
                 "3233330240334332333334020402330334323023",
                 0x96738a2fbbf2ee6bu);
}

// The lowest point of dalli's ring is 0x1ac0f2; keys below it belong to the highest one.
TEST(ClientDefaultsGolden, AKeyOfDalliBelongsToThePointBeforeIt) {
  const SharedRing ring(RingProfile::dalli, three_servers());
  unsigned wrong = 0;
  for (unsigned i = 0; i < route_keys; ++i) {
    const std::uint32_t hash = crc32(ring_key(i));
    const std::uint32_t point = ring.locate(ring_key(i)).point;
    wrong += (point > hash) != (hash < 0x1ac0f2);
  }
  EXPECT_EQ(wrong, 0u);
}

constexpr std::array client_defaults{RingProfile::modula, RingProfile::pymemcache,
                                     RingProfile::dalli};

// libmemcached has no rule for modula: the server after the owner takes its place.
TEST(ClientDefaults, ModulaGoesOnWithTheNextServer) {
  const ModulaLocator locator(three_servers());
  for (unsigned i = 0; i < 100; ++i) {
    const std::uint32_t owner = locator.locate(ring_key(i)).node;
    EXPECT_EQ(locator.stand_in(ring_key(i), AllServersBut(owner)), (owner + 1) % 3);
  }
}

TEST(ClientDefaults, WhileNoServerTakesRequestsTheOwnerKeepsItsKeys) {
  for (const RingProfile ring : client_defaults) {
    const auto locator = locator_of(ring, five_servers());
    for (unsigned i = 0; i < 100; ++i) {
      EXPECT_EQ(locator->stand_in(ring_key(i), NoServer()), locator->locate(ring_key(i)).node);
    }
  }
}

// The 19 more hashes of dalli may all lead to servers that are down.
TEST(ClientDefaults, TheOnlyServerThatTakesRequestsIsFound) {
  struct Only final : NodeFilter {
    bool takes(std::uint32_t node) const noexcept override { return node == 3; }
  };
  ServerList nodes = five_servers();
  for (unsigned i = 0; i < 60; ++i) nodes.push_back({"cache-" + std::to_string(i), 11211, 1});
  for (const RingProfile ring : client_defaults) {
    const auto locator = locator_of(ring, nodes);
    for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(locator->stand_in(ring_key(i), Only()), 3u);
  }
}

TEST(ClientDefaults, SharesAddUpToOneAndAreThoseOfTheKeys) {
  for (const RingProfile ring : client_defaults) {
    const auto locator = locator_of(ring, five_servers());
    const std::string nodes = route(*locator);
    double sum = 0;
    for (std::uint32_t node = 0; node < 5; ++node) {
      const auto keys = std::ranges::count(nodes, static_cast<char>('0' + node));
      EXPECT_NEAR(locator->share(node), static_cast<double>(keys) / route_keys, 0.015);
      sum += locator->share(node);
    }
    EXPECT_NEAR(sum, 1.0, 1e-9);
  }
}

TEST(ClientDefaults, ManyKeysAtOnceHaveTheOwnersThatTheyHaveOneByOne) {
  std::vector<std::string> texts;
  for (unsigned i = 0; i < 1'000; ++i) texts.push_back(ring_key(i));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  for (const RingProfile ring : client_defaults) {
    const auto locator = locator_of(ring, five_servers());
    std::vector<std::uint32_t> nodes(keys.size());
    locator->owners(keys, nodes);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(nodes[i], locator->locate(keys[i]).node) << keys[i];
    }
  }
}

TEST(ClientDefaults, OnlyModulaCountsTheServersInTheirOrder) {
  ServerList nodes = five_servers();
  const auto servers_of = [](RingProfile ring, const ServerList& order) {
    std::vector<std::string> hosts;
    const auto locator = locator_of(ring, order);
    for (unsigned i = 0; i < 100; ++i)
      hosts.push_back(order[locator->locate(ring_key(i)).node].host);
    return hosts;
  };
  const ServerList turned(nodes.rbegin(), nodes.rend());
  for (const RingProfile ring : client_defaults) {
    EXPECT_EQ(servers_of(ring, nodes) == servers_of(ring, turned), ring != RingProfile::modula);
  }
}

// Python hashes characters, and a key that is not UTF-8 can only be bytes.
TEST(ClientDefaults, PymemcacheHashesTheLowestBitsOfEachCharacter) {
  const auto same = [](std::string_view one, std::string_view other) {
    ServerList nodes = five_servers();
    for (unsigned i = 0; i < 500; ++i) nodes.push_back({"cache-" + std::to_string(i), 11211, 1});
    const PymemcacheLocator locator(nodes);
    return locator.locate(one) == locator.locate(other);
  };
  EXPECT_TRUE(same("a\xc4\x80z", std::string_view("a\0z", 3)));        // U+0100
  EXPECT_TRUE(same("\xe2\x82\xac", "\xac"));                           // U+20AC, and a lone byte
  EXPECT_TRUE(same("x\xf0\x9f\x98\x80", std::string_view("x\0", 2)));  // U+1F600
  EXPECT_TRUE(same("x\xf0\x9f\x99\x81", "xA"));                        // U+1F641
  EXPECT_FALSE(same("\xc3\xa9", "\xc3"));
}

// If two servers have the same score, the greater name wins, in either order. Found by search.
TEST(ClientDefaults, AmongEqualScoresTheGreaterNameWins) {
  const NodeConfig a{"cache-53701", 11211, 1};
  const NodeConfig b{"cache-63635", 11211, 1};
  EXPECT_EQ(PymemcacheLocator(ServerList{a, b}).locate("key-1").node, 1u);
  EXPECT_EQ(PymemcacheLocator(ServerList{b, a}).locate("key-1").node, 0u);
}

// RFC 3174, 7.3, and texts at both edges of a block.
TEST(Sha1Test, GivesTheDigestsOfTheSpecification) {
  EXPECT_EQ(sha1("abc"), (Sha1{0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d}));
  EXPECT_EQ(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            (Sha1{0x84983e44, 0x1c3bd26e, 0xbaae4aa1, 0xf95129e5, 0xe54670f1}));
  EXPECT_EQ(sha1(std::string(1'000'000, 'a')),
            (Sha1{0x34aa973c, 0xd4c4daa4, 0xf61eeb2b, 0xdbad2731, 0x6534016f}));
  EXPECT_EQ(sha1(std::string(55, 'a')),
            (Sha1{0xc1c8bbdc, 0x22796e28, 0xc0e15163, 0xd20899b6, 0x5621d65a}));
  EXPECT_EQ(sha1(std::string(56, 'a')),
            (Sha1{0xc2db330f, 0x6083854c, 0x99d4b5bf, 0xb6e8f29f, 0x201be699}));
  EXPECT_EQ(sha1(std::string(64, 'a')),
            (Sha1{0x0098ba82, 0x4b5c1642, 0x7bd7a112, 0x2a5a442a, 0x25ec644d}));
  EXPECT_EQ(sha1(""), (Sha1{0xda39a3ee, 0x5e6b4b0d, 0x3255bfef, 0x95601890, 0xafd80709}));
}

TEST(ClientHashes, ManyTextsAtOnceGiveTheFirstNumbersOfTheirSha1) {
  test::for_more_and_more_texts([](const std::vector<std::string_view>& texts) {
    std::vector<std::uint32_t> words(texts.size());
    sha1_first_words(texts, words);
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(words[i], sha1(texts[i])[0]) << texts[i];
  });
}

// The check value of CRC-32, and MurmurHash3 with every number of bytes in its last word.
TEST(KeyHashes, GiveTheirKnownValues) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xcbf43926u);
  const auto murmur = [](std::string_view text) {
    Murmur3 hash;
    hash.add(text);
    return hash.hash();
  };
  EXPECT_EQ(murmur(""), 0u);
  EXPECT_EQ(murmur("a"), 0x3c2569b2u);
  EXPECT_EQ(murmur("ab"), 0x9bbfd75fu);
  EXPECT_EQ(murmur("abc"), 0xb3dd93fau);
  EXPECT_EQ(murmur("abcd"), 0x43ed676au);
  EXPECT_EQ(murmur("The quick brown fox jumps over the lazy dog"), 0x2e4ff723u);
}

}  // namespace
}  // namespace sheaf::cluster
