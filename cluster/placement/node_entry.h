#pragma once

// NodeEntry: a server's index among those of a client. See node_table.h.
//
// Thread rule: a plain value; entries() as its implementation says.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <memory>
#include <string>

namespace sheaf::cluster {

struct NodeEntry {
  std::uint32_t index = 0;
  std::string identity;  // host:port
};

class NodeEntries {
 public:
  // The entry of a server, which has its index while somebody holds it.
  virtual std::shared_ptr<const NodeEntry> entry(const std::string& identity) = 0;

 protected:
  ~NodeEntries() = default;
};

}  // namespace sheaf::cluster
