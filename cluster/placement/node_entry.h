#pragma once

// NodeEntry: the index of a server among all servers of a client. See node_table.h.
//
// Thread rule: a plain value; entry() as its implementation says.
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
  // Returns the entry of a server. The server keeps its index while the entry is held.
  virtual std::shared_ptr<const NodeEntry> entry(const std::string& identity) = 0;

 protected:
  ~NodeEntries() = default;
};

}  // namespace sheaf::cluster
