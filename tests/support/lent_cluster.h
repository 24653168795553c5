#pragma once

// LentCluster: a cluster that a test borrows, as a server from Lent (lent.h). The test may do with
// it what it likes: the next borrower with the same options gets it formed again, with the same
// servers (RespCluster::form_again), or only emptied if the test has said that this is enough.
// Clusters of Garnet are not lent again.
//
// Thread rule: that of Lent.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/resp_cluster.h"

namespace sheaf::test {

class LentCluster {
 public:
  explicit LentCluster(const RespClusterOptions& options = {}) : cluster_(take(options)) {}
  ~LentCluster() {
    if (cluster_->is_garnet()) return;
    idle().push_back({std::move(cluster_), only_keys_ && !testing::Test::HasFailure()});
  }
  LentCluster(const LentCluster&) = delete;
  LentCluster& operator=(const LentCluster&) = delete;

  RespCluster& operator*() const { return *cluster_; }
  RespCluster* operator->() const { return cluster_.get(); }
  // The test changes only keys. Forming the cluster again takes longer than most such tests.
  void changes_only_keys(bool so = true) { only_keys_ = so; }

 private:
  struct Idle {
    std::unique_ptr<RespCluster> cluster;
    bool only_keys;
  };

  static std::vector<Idle>& idle() {
    static std::vector<Idle> all;
    return all;
  }
  static std::unique_ptr<RespCluster> take(const RespClusterOptions& options) {
    const auto found = std::ranges::find_if(
        idle(), [&](const Idle& each) { return each.cluster->options() == options; });
    if (found == idle().end()) return std::make_unique<RespCluster>(options);
    Idle taken = std::move(*found);
    idle().erase(found);
    taken.only_keys ? taken.cluster->forget_keys() : taken.cluster->form_again();
    return std::move(taken.cluster);
  }

  std::unique_ptr<RespCluster> cluster_;
  bool only_keys_ = false;
};

}  // namespace sheaf::test
