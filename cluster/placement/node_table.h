#pragma once

// NodeTable: gives every server of a client an index, by its identity (host:port). The topologies
// of the client and the clusters of its paths name nodes by these indices.
//
// A server keeps its index while a topology or a cluster holds its entry. Code that holds neither
// must not trust an index: it may already belong to another server.
//
// Thread rule: any thread. Entries may outlive the table.

#include "cluster/placement/node_entry.h"

namespace sheaf::cluster {

class NodeTable final : public NodeEntries {
 public:
  NodeTable();

  // A server whose entry is not held gets the lowest free index.
  std::shared_ptr<const NodeEntry> entry(const std::string& identity) override;

 private:
  class Indices;
  std::shared_ptr<Indices> indices_;  // shared with the entries
};

}  // namespace sheaf::cluster
