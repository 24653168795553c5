#pragma once

// ServerMap: which server owns which slot, for kinds of endpoint whose servers decide that
// themselves and report it. The owner asks a server the question, passes the answer back, and reads
// the servers and owners from the map. One answer is what one server believes; the map combines
// them.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/cluster_config.h>
#include <sheaf/stats.h>

#include "protocol/known_servers.h"
#include "protocol/operation.h"

namespace sheaf::protocol {

class ServerMap {
 public:
  static constexpr std::uint16_t unassigned = 0xffff;  // in place of an owner
  // A pure function, which knows what {tag} means.
  using SlotOf = std::uint16_t (*)(std::string_view key) noexcept;

  // Where an answer comes from, and when it was asked for.
  struct Source {
    std::string_view host;    // that we connected to
    std::uint64_t asked = 0;  // a number that grows with the caller's time of asking
  };
  virtual ~ServerMap() = default;

  // The words of a Verb::command. They may change after an answer, and live until the next one.
  virtual std::span<const std::string_view> question() const = 0;
  // Why an answer is useless, in one sentence.
  struct Useless {
    std::string text;
    bool lasting = false;  // the server would give the same answer again
  };
  // `half`: the map takes effect with the answer to question(), which has changed. Any server may
  // give that one.
  enum class Taken : std::uint8_t { whole, half };
  // Takes the answer. If it is useless, another server, or the next question to this one, may give
  // a useful one.
  virtual std::expected<Taken, Useless> on_reply(const Reply& reply, const Source& from) = 0;

  // False until the first useful answer.
  virtual bool known() const = 0;
  // Always the same object, which follows the map.
  virtual std::shared_ptr<const KnownServers> known_servers() const { return nullptr; }
  // The servers that own slots. Distinct identities.
  virtual std::vector<NodeConfig> servers() const = 0;
  // For each slot its owner's position among servers(), or `unassigned`.
  virtual std::vector<std::uint16_t> owners() const = 0;
  // Other servers that may know the map, for when none of servers() answers.
  virtual std::vector<NodeConfig> others() const = 0;
  // A server that copies one of servers(), and that one's position there.
  struct Replica {
    NodeConfig server;
    std::uint16_t primary = 0;
  };
  // The servers of others() that are known to be replicas.
  virtual std::vector<Replica> replicas() const { return {}; }
  // The server a slot is moving to, if the latest answer says so. May not be among servers().
  virtual std::optional<NodeConfig> importer(std::uint16_t /*slot*/) const { return std::nullopt; }
  // Servers may call each other by names other than those in servers() and others(). Returns where
  // the server is reached that others call `name` and `port`; nothing if that is where, or if the
  // map does not know it.
  virtual std::optional<NodeConfig> server_called(std::string_view /*name*/,
                                                  std::uint16_t /*port*/) const {
    return std::nullopt;
  }
  virtual SlotOf slot_of() const = 0;
  // All servers, with their roles but without their slots. Distinct identities.
  virtual std::vector<ClusterServer> listing() const = 0;
};

}  // namespace sheaf::protocol
