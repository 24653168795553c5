#pragma once

// NodeTable: gives every server of a client an index, by its identity (host:port). The topologies
// of the client and the clusters of its paths name nodes by these indices.
//
// A server has its index while a topology or a cluster holds its entry. Who holds none of them
// must not trust an index: it may belong to another server by now.
//
// Thread rule: any thread. Entries may outlive the table.

#include "cluster/placement/node_entry.h"

namespace sheaf::cluster {

class NodeTable final : public NodeEntries {
 public:
  NodeTable();

  // If nobody holds an entry of the server, it gets the lowest index that is free.
  std::shared_ptr<const NodeEntry> entry(const std::string& identity) override;

 private:
  class Indices;
  std::shared_ptr<Indices> indices_;  // shared with the entries
};

}  // namespace sheaf::cluster
