#pragma once

// Checks that a map says the same about every slot as the servers do.

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "protocol/resp/wire/hash_slot.h"
#include "protocol/resp/wire/server_error.h"
#include "tests/support/resp_cluster.h"

namespace sheaf::test {

// A key for each slot. Tests never write these keys.
inline const std::vector<std::string>& keys_of_slots() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all(protocol::resp::slot_count);
    std::size_t found = 0;
    for (std::size_t number = 0; found < all.size(); ++number) {
      std::string key = "nothing:" + std::to_string(number);
      std::string& place = all[protocol::resp::hash_slot(key)];
      if (!place.empty()) continue;
      place = std::move(key);
      ++found;
    }
    return all;
  }();
  return keys;
}

// Where a server sends a reader of a key: MOVED or ASK with the address, "here", or the error.
inline std::string whereabouts(const protocol::resp::Value& reply) {
  if (!reply.is_error()) return "here";
  const auto error = protocol::resp::ServerError::parse(reply.text());
  if (!error.redirect) return std::string(reply.text());
  const std::string word = error.kind == protocol::resp::ErrorKind::ask ? "ASK " : "MOVED ";
  return word + std::to_string(error.redirect->slot) + " " + std::string(error.redirect->host) +
         ":" + std::to_string(error.redirect->port);
}

// Reads a key of every slot from every running server. The owner in the map serves it, all others
// name the owner. `except` are slots that are moving.
inline void expect_served_as_in(const protocol::resp::SlotMap& map, RespCluster& cluster,
                                const std::set<std::uint16_t>& except = {}) {
  constexpr std::uint16_t at_once = 1'024;
  for (std::size_t server = 0; server < cluster.size(); ++server) {
    if (!cluster.answers(server)) continue;
    std::size_t wrong = 0;
    for (std::uint16_t first = 0; first < protocol::resp::slot_count; first += at_once) {
      std::vector<RespConnection::Words> questions;
      for (std::uint16_t slot = first; slot < first + at_once; ++slot) {
        questions.push_back({"GET", keys_of_slots()[slot]});
      }
      const auto replies = cluster.ask_all(server, questions);
      for (std::uint16_t slot = first; slot < first + at_once; ++slot) {
        if (except.contains(slot)) continue;
        ASSERT_NE(map.owner(slot), protocol::resp::SlotMap::nobody) << slot;
        const auto& owner = map.nodes()[map.owner(slot)];
        const std::string expected = owner.id == cluster.id(server)
                                         ? "here"
                                         : "MOVED " + std::to_string(slot) + " " + owner.host +
                                               ":" + std::to_string(owner.port);
        const std::string found = whereabouts(replies[slot - first].root());
        if (found == expected) continue;
        ADD_FAILURE() << "slot " << slot << " at server " << server << ": " << found << ", not "
                      << expected;
        if (++wrong == 3) return;
      }
    }
  }
}

inline void expect_same_owners(const protocol::resp::SlotMap& map,
                               const protocol::resp::SlotMap& truth) {
  for (std::uint16_t slot = 0; slot < protocol::resp::slot_count; ++slot) {
    ASSERT_NE(map.owner(slot), protocol::resp::SlotMap::nobody) << slot;
    const auto& owner = map.nodes()[map.owner(slot)];
    const auto& wanted = truth.nodes()[truth.owner(slot)];
    ASSERT_EQ(owner.id, wanted.id) << slot;
    ASSERT_EQ(owner.host, wanted.host) << slot;
    ASSERT_EQ(owner.port, wanted.port) << slot;
  }
}

// While a replaced primary does not answer, SHARDS of Redis 8 and Valkey has two primaries in one
// shard. Those views are left out.
inline std::vector<protocol::resp::TopologyView> readable_views(RespCluster& cluster,
                                                                RespCluster::Form form) {
  std::vector<protocol::resp::TopologyView> all;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (!cluster.answers(i)) continue;
    auto view = cluster.try_view(i, form);
    if (view) {
      all.push_back(*std::move(view));
    } else {
      EXPECT_EQ(view.error(), "the reply to CLUSTER SHARDS has two primaries in one shard");
    }
  }
  return all;
}

// The same for the maps from each form of the views, and for the map from all views together.
inline void expect_views_are_true(RespCluster& cluster,
                                  const std::set<std::uint16_t>& except = {}) {
  using protocol::resp::SlotMap;
  using Form = RespCluster::Form;
  const SlotMap truth = SlotMap::merge(cluster.views(), {});
  expect_served_as_in(truth, cluster, except);
  std::vector<protocol::resp::TopologyView> all;
  for (const Form form : {Form::slots, Form::shards, Form::nodes}) {
    const auto views = readable_views(cluster, form);
    all.insert(all.end(), views.begin(), views.end());
    if (!views.empty()) expect_same_owners(SlotMap::merge(views, {}), truth);
  }
  expect_same_owners(SlotMap::merge(all, {}), truth);
}

// Compares the slots of binary keys, with braces in all places, with those that the server
// computes.
inline void expect_keys_in_their_slots(RespConnection& connection, int count) {
  Random random(4'711);
  std::vector<RespConnection::Words> questions;
  for (int i = 0; i < count; ++i) {
    std::string key(1 + random.below(40), '\0');
    for (char& c : key) {
      c = random.below(3) == 0 ? "{}"[random.below(2)] : static_cast<char>(random.u32());
    }
    questions.push_back({"CLUSTER", "KEYSLOT", key});
  }
  const auto replies = connection.ask_all(questions);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    ASSERT_EQ(replies[i].root().number(), protocol::resp::hash_slot(questions[i].back())) << i;
  }
}

}  // namespace sheaf::test
