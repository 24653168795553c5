#pragma once

// ServerMap: which server owns which slot, for kinds of endpoint whose servers decide that
// themselves and say so. Whoever keeps one asks a server the question, gives the answer back, and
// reads the servers and owners from it. One answer is what one server believes; the map puts them
// together.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/cluster_config.h>
#include <sheaf/cluster_server.h>

#include "protocol/operation.h"

namespace sheaf::protocol {

class ServerMap {
 public:
  static constexpr std::uint16_t unassigned = 0xffff;  // in place of an owner
  // A pure function, which knows what {tag} means.
  using SlotOf = std::uint16_t (*)(std::string_view key) noexcept;

  // Whose answer it is, and when it was asked for.
  struct Source {
    std::string_view host;    // that we connected to
    std::uint64_t asked = 0;  // the caller's number of the moment; later ones are larger
  };
  virtual ~ServerMap() = default;

  // The words of a Verb::command. They may differ after an answer, and live until the next one.
  virtual std::span<const std::string_view> question() const = 0;
  // The answer. If it is of no use: why, in one sentence. Another server may say more, or this one
  // to the next question.
  virtual std::expected<void, std::string> on_reply(const Reply& reply, const Source& from) = 0;

  // False until the first useful answer.
  virtual bool known() const = 0;
  // Those that own slots. Distinct identities.
  virtual std::vector<NodeConfig> servers() const = 0;
  // Of each slot: its owner's position among servers(), or `unassigned`.
  virtual std::vector<std::uint16_t> owners() const = 0;
  // Others that may know the map, for when none of servers() answers.
  virtual std::vector<NodeConfig> others() const = 0;
  // A server that copies one of servers(): whose position that has there.
  struct Replica {
    NodeConfig server;
    std::uint16_t primary = 0;
  };
  // Those of others() that are known to do so.
  virtual std::vector<Replica> replicas() const { return {}; }
  // To whom a slot is on its way, if the latest answer says so. Not among servers(), maybe.
  virtual std::optional<NodeConfig> importer(std::uint16_t /*slot*/) const { return std::nullopt; }
  // Servers may call each other by other names than those that servers() and others() have. The
  // host that this name stands for in the map, if it is one, for the server at this port if there
  // are several; empty: the map knows no such name.
  virtual std::string host_called(std::string_view /*name*/, std::uint16_t /*port*/) const {
    return {};
  }
  virtual SlotOf slot_of() const = 0;
  // All of them, with what they are to each other, but without their slots. Distinct identities.
  virtual std::vector<ClusterServer> listing() const = 0;
};

}  // namespace sheaf::protocol
