#include "cluster/placement/shared_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/md5.h"
#include "tests/cluster/ring_routes.h"
#include "tests/cluster/texts_to_hash.h"

#if SHEAF_HAS_LIBMEMCACHED
#include <libmemcached/memcached.h>
#endif

namespace sheaf::cluster {
namespace {

using testing::ElementsAre;

// The servers, weights and keys for which the other clients' answers were collected
// (docs/wire/locators.md, "Shared rings").
std::vector<NodeConfig> servers() {
  return {{"10.0.1.1", 11211, 1}, {"10.0.1.2", 11211, 1}, {"10.0.1.3", 11212, 1},
          {"10.0.1.4", 11211, 1}, {"10.0.1.5", 22122, 1}, {"10.0.1.6", 11211, 1},
          {"10.0.1.7", 11211, 1}, {"10.0.1.8", 11211, 1}};
}
std::vector<NodeConfig> weighted() {
  constexpr std::array<std::uint32_t, 8> weights{600, 300, 200, 350, 1000, 800, 950, 100};
  auto nodes = servers();
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].weight = weights[i];
  return nodes;
}
// The five lowest points.
std::vector<std::pair<std::uint32_t, std::uint32_t>> lowest(const SharedRing& ring) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> five;
  for (const auto& point : ring.points().first(5)) five.emplace_back(point.position, point.node);
  return five;
}

std::string hex(const Md5& digest) {
  std::string out;
  for (const auto byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

// RFC 1321, A.5, and a text for every edge of a block.
TEST(Md5Test, GivesTheDigestsOfTheSpecification) {
  EXPECT_EQ(hex(md5("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex(md5("abc")), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567"
                    "890")),
            "57edf4a22be3c955ac49da2e2107b67a");
  EXPECT_EQ(hex(md5(std::string(55, 'a'))), "ef1772b6dff9a122358552954ad0df65");
  EXPECT_EQ(hex(md5(std::string(56, 'a'))), "3b0c8ac703f828b04c6c197006d17218");
  EXPECT_EQ(hex(md5(std::string(64, 'a'))), "014842d480b571495a4a0363793f7367");
}

TEST(Md5Test, ManyTextsAtOnceGiveTheSameNumbersAsOneByOne) {
  test::for_more_and_more_texts([](const std::vector<std::string_view>& texts) {
    std::vector<std::uint32_t> words(texts.size());
    md5_first_words(texts, words);
    std::vector<std::array<std::uint32_t, 4>> all(texts.size());
    md5_words(texts, all);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Md5 digest = md5(texts[i]);
      for (unsigned n = 0; n < 4; ++n) EXPECT_EQ(all[i][n], md5_word(digest, n)) << texts[i];
      EXPECT_EQ(words[i], digest[0] | digest[1] << 8 | digest[2] << 16 |
                              static_cast<std::uint32_t>(digest[3]) << 24)
          << texts[i];
    }
  });
}

TEST(SharedRingTest, ManyKeysAtOnceHaveTheOwnersThatTheyHaveOneByOne) {
  std::vector<std::string> texts;
  for (int i = 0; i < 5'000; ++i) texts.push_back("key " + std::to_string(i * i));
  texts.push_back(std::string(200, 'k'));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  for (const RingProfile profile :
       {RingProfile::libmemcached, RingProfile::libmemcached_weighted, RingProfile::spymemcached}) {
    const SharedRing ring(profile, weighted());
    std::vector<std::uint32_t> nodes(keys.size());
    ring.owners(keys, nodes);
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(nodes[i], ring.locate(keys[i]).node);
  }
}

TEST(SharedRingGolden, LibmemcachedWithoutWeights) {
  const SharedRing ring(RingProfile::libmemcached, servers());
  EXPECT_EQ(ring.points().size(), 800u);
  EXPECT_THAT(lowest(ring), ElementsAre(std::pair(0x000b49df, 4), std::pair(0x000ea2a0, 1),
                                        std::pair(0x00a34c33, 4), std::pair(0x00e067ba, 3),
                                        std::pair(0x0145ec98, 7)));
  EXPECT_EQ(route(ring).substr(0, 9), "447650400");
  EXPECT_EQ(hash64(route(ring)), 0x5aa718e4e5949c23u);
}

TEST(SharedRingGolden, LibmemcachedWeightedWithEqualWeights) {
  const SharedRing ring(RingProfile::libmemcached_weighted, servers());
  EXPECT_EQ(ring.points().size(), 1280u);
  EXPECT_THAT(lowest(ring), ElementsAre(std::pair(0x00d821f9, 1), std::pair(0x00f4567f, 1),
                                        std::pair(0x0108bb00, 0), std::pair(0x0137a6e4, 0),
                                        std::pair(0x013b21e9, 7)));
  EXPECT_EQ(route(ring).substr(0, 9), "464351467");
  EXPECT_EQ(hash64(route(ring)), 0xfa29a6580ba31549u);
}

TEST(SharedRingGolden, LibmemcachedWeighted) {
  const SharedRing ring(RingProfile::libmemcached_weighted, weighted());
  EXPECT_EQ(ring.points().size(), 1264u);
  EXPECT_EQ(route(ring).substr(0, 9), "444441460");
  EXPECT_EQ(hash64(route(ring)), 0x48c6f619507556e0u);
}

TEST(SharedRingGolden, LibmemcachedThatTookToWeightsByItself) {
  const SharedRing ring(RingProfile::libmemcached, weighted());
  EXPECT_EQ(ring.points().size(), 1264u);
  EXPECT_EQ(route(ring).substr(0, 9), "560242456");
  EXPECT_EQ(hash64(route(ring)), 0xd910230119342fe2u);
}

TEST(SharedRingGolden, Spymemcached) {
  const SharedRing ring(RingProfile::spymemcached, servers());
  EXPECT_EQ(ring.points().size(), 1280u);
  EXPECT_THAT(lowest(ring), ElementsAre(std::pair(0x003c8918, 5), std::pair(0x00431de4, 3),
                                        std::pair(0x0049a61e, 1), std::pair(0x009b3612, 0),
                                        std::pair(0x00cb1eca, 6)));
  EXPECT_EQ(route(ring).substr(0, 9), "114257467");
  EXPECT_EQ(hash64(route(ring)), 0x88117dc85d2962bau);
}

// A twenty-fifth of 160 x 25 is less than 160 in single precision.
TEST(SharedRing, LosesALabelToSinglePrecisionWhereTheOthersDo) {
  for (const unsigned count : {25u, 47u, 50u, 55u, 61u, 71u, 94u, 100u, 107u, 109u}) {
    std::vector<NodeConfig> nodes;
    for (unsigned i = 0; i < count; ++i) nodes.push_back({"10.1.0." + std::to_string(i), 11211, 1});
    const SharedRing ring(RingProfile::libmemcached_weighted, nodes);
    EXPECT_EQ(ring.points().size(), std::size_t{156} * count) << count;
  }
}

// The owner of keys that belong to a point, which must exist.
std::string owner_at(RingProfile profile, const std::vector<NodeConfig>& nodes,
                     std::uint32_t position) {
  const SharedRing ring(profile, nodes);
  for (unsigned i = 0;; ++i) {
    const std::string name = ring_key(i);
    const Location found = ring.locate(name);
    if (found.point != position) continue;
    const std::string_view view = name;
    std::uint32_t together = 0;
    ring.owners({&view, 1}, {&together, 1});
    EXPECT_EQ(together, found.node);
    return nodes[found.node].host;
  }
}

// Pairs of servers that share a point, found by search. A table by position keeps the last one
// inserted; in a sorted list the first one is found.
TEST(SharedRing, OfTwoServersOnOnePointTheOneIsFoundThatTheOtherClientFinds) {
  const NodeConfig a{"10.0.2.53", 11211, 1};
  const NodeConfig b{"10.0.2.161", 11211, 1};
  EXPECT_EQ(owner_at(RingProfile::spymemcached, {a, b}, 0xbbee5a39), b.host);
  EXPECT_EQ(owner_at(RingProfile::spymemcached, {b, a}, 0xbbee5a39), a.host);
  const NodeConfig c{"10.0.3.100", 11211, 1};
  const NodeConfig d{"10.0.4.1", 11211, 1};
  EXPECT_EQ(owner_at(RingProfile::libmemcached_weighted, {c, d}, 0x119673bb), c.host);
  EXPECT_EQ(owner_at(RingProfile::libmemcached_weighted, {d, c}, 0x119673bb), d.host);
  const NodeConfig e{"10.0.3.5", 11211, 1};
  const NodeConfig f{"10.0.3.223", 11211, 1};
  EXPECT_EQ(owner_at(RingProfile::libmemcached, {e, f}, 0x587859cb), e.host);
  EXPECT_EQ(owner_at(RingProfile::libmemcached, {f, e}, 0x587859cb), f.host);
}

TEST(SharedRing, SharesAddUpToOne) {
  for (const auto profile :
       {RingProfile::libmemcached, RingProfile::libmemcached_weighted, RingProfile::spymemcached}) {
    const SharedRing ring(profile, weighted());
    double sum = 0;
    for (std::uint32_t node = 0; node < 8; ++node) sum += ring.share(node);
    EXPECT_NEAR(sum, 1.0, 1e-9);
  }
}

TEST(SharedRing, DoesNotReadTags) {
  const SharedRing ring(RingProfile::libmemcached_weighted, servers());
  unsigned apart = 0;
  for (unsigned i = 0; i < 100; ++i) {
    apart += ring.locate("{t}" + std::to_string(i)) == ring.locate("t") ? 0 : 1;
  }
  EXPECT_GT(apart, 50u);
}

#if SHEAF_HAS_LIBMEMCACHED
// Compares with the answers of the real library, key by key.
void compare(RingProfile profile, const std::vector<NodeConfig>& nodes) {
  ClusterConfig config;
  config.nodes = nodes;
  config.locator = LocatorKind::ring;
  config.ring = profile;
  memcached_st* library = memcached_create(nullptr);
  const auto set = [&](memcached_behavior_t behavior, std::uint64_t value) {
    ASSERT_EQ(memcached_behavior_set(library, behavior, value), MEMCACHED_SUCCESS);
  };
  if (profile == RingProfile::libmemcached) {
    set(MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_CONSISTENT);
  } else if (profile == RingProfile::libmemcached_weighted) {
    set(MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
  }
  for (const NodeConfig& node : nodes) {
    ASSERT_EQ(memcached_server_add_with_weight(library, node.host.c_str(), node.port, node.weight),
              MEMCACHED_SUCCESS);
  }
  const auto ring = make_locator(config);
  for (unsigned i = 0; i < 20'000; ++i) {
    const std::string k = ring_key(i);
    ASSERT_EQ(ring->locate(k).node, memcached_generate_hash(library, k.data(), k.size())) << k;
  }
  memcached_free(library);
}

TEST(SharedRingAgainstLibmemcached, PutsEveryKeyWhereTheLibraryPutsIt) {
  compare(RingProfile::libmemcached, servers());
  compare(RingProfile::libmemcached, weighted());
  compare(RingProfile::libmemcached_weighted, servers());
  compare(RingProfile::libmemcached_weighted, weighted());
}

// With weights as well: the library ignores them, so sheaf's configuration refuses them.
TEST(SharedRingAgainstLibmemcached, PutsEveryKeyWhereItsDefaultPutsIt) {
  compare(RingProfile::modula, servers());
  compare(RingProfile::modula, weighted());
  compare(RingProfile::modula, {servers().front()});
}

TEST(SharedRingAgainstLibmemcached, AgreesWhereSinglePrecisionLosesALabel) {
  for (const unsigned count : {25u, 47u, 50u, 61u}) {
    std::vector<NodeConfig> nodes;
    for (unsigned i = 0; i < count; ++i) {
      nodes.push_back({"cache-" + std::to_string(i), static_cast<std::uint16_t>(11211 + i % 3), 1});
    }
    compare(RingProfile::libmemcached_weighted, nodes);
    compare(RingProfile::libmemcached, nodes);
  }
}
#endif

}  // namespace
}  // namespace sheaf::cluster
