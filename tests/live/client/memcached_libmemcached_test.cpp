// One fleet of real memcached servers, used by sheaf and libmemcached at once. Each finds what the
// other has stored, on the server where it would have stored it itself.

#include <gtest/gtest.h>

#if defined(SHEAF_TEST_MEMCACHED_SERVERS) && defined(SHEAF_HAS_LIBMEMCACHED)
#include <libmemcached/memcached.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::MemcachedProcess;

constexpr std::array<std::uint32_t, 8> weights{600, 300, 200, 350, 1000, 800, 950, 100};
constexpr auto patience = 60s;  // for a batch on a busy machine

// How the library places keys: by its default, DISTRIBUTION_CONSISTENT or KETAMA_WEIGHTED.
enum class Placement { modula, consistent, weighted };

// Settings with which both agree.
struct Agreement {
  std::string name;
  std::string options;  // sheaf's
  Placement placement;
  bool binary;  // the library's protocol
  unsigned keys;
};

struct Found {
  std::string value;
  std::uint32_t flags = 0;
};

// libmemcached as a C program would use it.
class Library {
 public:
  explicit Library(const Agreement& agreement) : library_(memcached_create(nullptr)) {
    if (agreement.placement == Placement::weighted) {
      behave(MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
    } else if (agreement.placement == Placement::consistent) {
      behave(MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_CONSISTENT);
    }
    if (agreement.binary) behave(MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, 1);
    behave(MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
  }
  ~Library() { memcached_free(library_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void add(const std::string& host, std::uint16_t port, std::uint32_t weight) {
    EXPECT_EQ(memcached_server_add_with_weight(library_, host.c_str(), port, weight),
              MEMCACHED_SUCCESS);
  }
  std::uint32_t server_of(const std::string& key) {
    return memcached_generate_hash(library_, key.data(), key.size());
  }
  bool set(const std::string& key, const std::string& value, std::uint32_t flags = 0) {
    return memcached_set(library_, key.data(), key.size(), value.data(), value.size(), 0, flags) ==
           MEMCACHED_SUCCESS;
  }
  // Reads in batches, as a program would.
  std::map<std::string, Found> get(const std::vector<std::string>& keys) {
    constexpr std::size_t batch = 500;
    std::map<std::string, Found> all;
    for (std::size_t first = 0; first < keys.size(); first += batch) {
      std::vector<const char*> texts;
      std::vector<std::size_t> sizes;
      for (std::size_t i = first; i < std::min(first + batch, keys.size()); ++i) {
        texts.push_back(keys[i].data());
        sizes.push_back(keys[i].size());
      }
      EXPECT_EQ(memcached_mget(library_, texts.data(), sizes.data(), texts.size()),
                MEMCACHED_SUCCESS);
      fetch(all);
    }
    return all;
  }
  // Returns -1 if the key is absent.
  std::int64_t add_to(const std::string& key, std::uint32_t delta) {
    std::uint64_t now = 0;
    const auto done = memcached_increment(library_, key.data(), key.size(), delta, &now);
    return done == MEMCACHED_SUCCESS ? static_cast<std::int64_t>(now) : -1;
  }

 private:
  void behave(memcached_behavior_t behavior, std::uint64_t value) {
    EXPECT_EQ(memcached_behavior_set(library_, behavior, value), MEMCACHED_SUCCESS);
  }
  void fetch(std::map<std::string, Found>& all) {
    memcached_return_t result = MEMCACHED_SUCCESS;
    while (memcached_result_st* one = memcached_fetch_result(library_, nullptr, &result)) {
      std::string key(memcached_result_key_value(one), memcached_result_key_length(one));
      all[std::move(key)] = {{memcached_result_value(one), memcached_result_length(one)},
                             memcached_result_flags(one)};
      memcached_result_free(one);
    }
  }

  memcached_st* library_;
};

class SharedFleet : public testing::TestWithParam<Agreement> {
 protected:
  void SetUp() override {
    std::string uri = "memcached://";
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      // The text of an address places keys, not the server that it leads to.
      const std::string host = i == 2 ? "localhost" : "127.0.0.1";
      const bool weighted = GetParam().placement == Placement::weighted;
      const std::uint32_t weight = weighted ? weights[i] : 1;
      nodes_.push_back(host + ":" + std::to_string(servers_[i]->port()));
      library.add(host, servers_[i]->port(), weight);
      uri += (i > 0 ? "," : "") + nodes_[i] + "*" + std::to_string(weight);
    }
    client.emplace(test::open(uri + "?" + GetParam().options));
    // A tenth of the keys are not ASCII, because hashes that read signed characters place them
    // differently.
    for (unsigned i = 0; i < GetParam().keys; ++i) {
      keys.push_back((i % 10 == 9 ? "k\xc3\xa9y-" : "key-") + std::to_string(i));
    }
    views.assign(keys.begin(), keys.end());
  }

  // Each key is on the server that both name, and no server has any other keys.
  void expect_each_key_where_both_name_it() {
    std::vector<std::vector<std::string_view>> of(servers_.size());
    unsigned differences = 0;
    for (const std::string& key : keys) {
      const std::uint32_t server = library.server_of(key);
      differences += client->locate(key)->node != nodes_[server];
      of[server].push_back(key);
    }
    EXPECT_EQ(differences, 0u) << "keys that the two place differently";
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      Client direct = test::open("memcached://" + nodes_[i]);
      const std::string stats = direct.server_stats({}, {.timeout = patience}).front().text.value();
      EXPECT_NE(stats.find("curr_items " + std::to_string(of[i].size()) + "\n"), std::string::npos)
          << nodes_[i] << " has other keys than its own " << of[i].size() << ":\n"
          << stats;
      unsigned absent = 0;
      for (const auto& [key, got] : direct.get_many(of[i], {patience})) absent += !got.value();
      EXPECT_EQ(absent, 0u) << nodes_[i];
    }
  }

  Library library{GetParam()};
  std::optional<Client> client;
  std::vector<std::string> keys;
  std::vector<std::string_view> views;

 private:
  std::array<test::Lent<MemcachedProcess>, 8> servers_;
  std::vector<std::string> nodes_;
};

INSTANTIATE_TEST_SUITE_P(
    With, SharedFleet,
    testing::Values(Agreement{"WeightsAndText", "ring=libmemcached-weighted", Placement::weighted,
                              false, 20'000},
                    Agreement{"WeightsAndBinary", "ring=libmemcached-weighted&protocol=binary",
                              Placement::weighted, true, 2'000},
                    Agreement{"NoWeights", "ring=libmemcached", Placement::consistent, false,
                              2'000},
                    Agreement{"ItsDefault", "ring=modula", Placement::modula, false, 2'000}),
    [](const auto& test) { return test.param.name; });

std::uint32_t flags_of(std::size_t key) { return static_cast<std::uint32_t>(key) * 0x9e3779b1u; }

TEST_P(SharedFleet, WhatLibmemcachedStoresIsReadWithItsFlagsAndRemoved) {
  unsigned failed = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    failed += !library.set(keys[i], "from the library: " + keys[i], flags_of(i));
  }
  ASSERT_EQ(failed, 0u);
  const auto got = client->get_many(views, {patience});
  ASSERT_EQ(got.size(), keys.size());
  unsigned differences = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const GetResult& value = got[i].result.value();
    differences +=
        !value || value->data != "from the library: " + keys[i] || value->flags != flags_of(i);
  }
  EXPECT_EQ(differences, 0u);
  expect_each_key_where_both_name_it();

  for (const auto& [key, removed] : client->remove_many(views, {patience})) {
    ASSERT_EQ(removed.value(), RemoveResult::removed) << key;
  }
  EXPECT_TRUE(library.get(keys).empty());
}

TEST_P(SharedFleet, WhatSheafStoresIsReadByLibmemcached) {
  std::vector<std::string> values;
  for (const std::string& key : keys) values.push_back("from sheaf: " + key);
  std::vector<SetItem> items;
  for (std::size_t i = 0; i < keys.size(); ++i) items.push_back({keys[i], values[i]});
  for (const auto& [key, stored] : client->set_many(items, {.timeout = patience})) {
    ASSERT_TRUE(stored.value().stored) << key;
  }
  const auto found = library.get(keys);
  EXPECT_EQ(found.size(), keys.size());
  unsigned differences = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto at = found.find(keys[i]);
    differences += at == found.end() || at->second.value != values[i] || at->second.flags != 0;
  }
  EXPECT_EQ(differences, 0u);
  expect_each_key_where_both_name_it();
}

TEST_P(SharedFleet, FlagsThatSheafSetsComeBackFromLibmemcached) {
  for (const std::uint32_t flags : {1u, 0x0107u, 0x80000000u, 0xffffffffu}) {
    const std::string key = "flags-" + std::to_string(flags);
    client->set(key, "value", {.flags = flags}).value();
    const auto found = library.get({key});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.at(key).flags, flags);
    EXPECT_EQ(found.at(key).value, "value");
  }
}

TEST_P(SharedFleet, BothCountTheSameNumber) {
  EXPECT_EQ(library.add_to("hits", 1), -1);
  EXPECT_EQ(client->increment("hits", 1, {.initial = 10}).value(), 10u);
  EXPECT_EQ(library.add_to("hits", 5), 15);
  EXPECT_EQ(client->increment("hits", 3).value(), 18u);
  EXPECT_EQ(client->decrement("hits", 8).value(), 10u);
  EXPECT_EQ(library.add_to("hits", 1), 11);
  ASSERT_TRUE(library.set("made", "41"));  // a number is its digits
  EXPECT_EQ(client->increment("made").value(), 42u);
  EXPECT_EQ(library.add_to("made", 1), 43);
}

}  // namespace
}  // namespace sheaf
#endif
