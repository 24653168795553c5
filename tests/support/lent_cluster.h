#pragma once

// LentCluster: a cluster that a test borrows, as a server from Lent (lent.h). The test may do with
// it what it likes: the next borrower with the same options gets it formed again, with the same
// servers (RespCluster::form_again). Clusters of Garnet are not lent again.
//
// Thread rule: that of Lent.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/resp_cluster.h"

namespace sheaf::test {

class LentCluster {
 public:
  explicit LentCluster(const RespClusterOptions& options = {})
      : cluster_(take(options).release()) {}

  RespCluster& operator*() const { return *cluster_; }
  RespCluster* operator->() const { return cluster_.get(); }

 private:
  using Clusters = std::vector<std::unique_ptr<RespCluster>>;

  struct Return {
    void operator()(RespCluster* cluster) const {
      std::unique_ptr<RespCluster> owned(cluster);
      if (!owned->is_garnet()) idle().push_back(std::move(owned));
    }
  };

  static Clusters& idle() {
    static Clusters all;
    return all;
  }
  static std::unique_ptr<RespCluster> take(const RespClusterOptions& options) {
    const auto found = std::ranges::find_if(
        idle(), [&](const auto& cluster) { return cluster->options() == options; });
    if (found == idle().end()) return std::make_unique<RespCluster>(options);
    std::unique_ptr<RespCluster> cluster = std::move(*found);
    idle().erase(found);
    cluster->form_again();
    return cluster;
  }

  std::unique_ptr<RespCluster, Return> cluster_;
};

}  // namespace sheaf::test
