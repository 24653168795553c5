#pragma once

// A map of a cluster that says what a test writes into it.
//
// Thread rule: one thread at a time.

#include <expected>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/placement/assigned_slots.h"
#include "protocol/server_map.h"
#include "tests/cluster/redirects_harness.h"

namespace sheaf::cluster {

// What the servers say, and what they were asked.
struct ScriptedMap {
  std::vector<NodeConfig> servers;
  std::vector<std::pair<unsigned, std::uint16_t>> owners;  // end of slots, position
  std::vector<NodeConfig> others{};
  std::vector<protocol::ServerMap::Replica> replicas{};
  std::vector<std::string> asked{};           // hosts whose answers came
  std::vector<std::string_view> questions{};  // each after the one before was refused
};

// Accepts only the answer "map", as the map of the script.
class MapOfScript final : public protocol::ServerMap {
 public:
  explicit MapOfScript(ScriptedMap& script) : script_(script) {}

  std::span<const std::string_view> question() const override {
    return {&script_.questions[refused_ % script_.questions.size()], 1};
  }
  std::expected<Taken, Useless> on_reply(const protocol::Reply& reply,
                                         const Source& from) override {
    script_.asked.emplace_back(from.host);
    if (reply.value == "half") {
      ++refused_;
      return Taken::half;
    }
    if (reply.status == protocol::Status::refused) {
      ++refused_;
      return std::unexpected(Useless{"refused: " + std::string(reply.text)});
    }
    if (reply.value != "map") return std::unexpected(Useless{"no map"});
    known_ = true;
    return Taken::whole;
  }
  bool known() const override { return known_; }
  std::vector<NodeConfig> servers() const override { return script_.servers; }
  std::vector<std::uint16_t> owners() const override {
    std::vector<std::uint16_t> slots;
    if (known_) {
      for (const auto& [end, owner] : script_.owners) slots.resize(end, owner);
    }
    slots.resize(AssignedSlots::slot_count, unassigned);
    return slots;
  }
  std::vector<NodeConfig> others() const override { return script_.others; }
  std::vector<Replica> replicas() const override { return script_.replicas; }
  SlotOf slot_of() const override { return slot_in_key; }
  std::vector<ClusterServer> listing() const override { return {}; }

 private:
  ScriptedMap& script_;
  std::size_t refused_ = 0;
  bool known_ = false;
};

}  // namespace sheaf::cluster
