#pragma once

// Sweeper: deletes what no head names any more, with the fencing token of the commit that made this
// certain. No caller waits for it. A delete that is lost leaves a key that no reader sees; segments
// with items (trees) stay in the head's garbage until they were seen to be gone.
//
// It is pure, and runs as part of a Procedure.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <string>
#include <unordered_set>
#include <vector>

#include "client/list/format.h"
#include "client/list/pending_operations.h"

namespace sheaf::client::list {

class Sweeper {
 public:
  explicit Sweeper(const Keys& keys) : keys_(keys), pending_(window, keys.route()) {
    pending_.number_from(2, 2);
  }

  struct Terms {
    std::string fence;
    std::uint64_t connection = 0;
    Deadline deadline{0};
  };
  // Deletes all garbage but trees, and a few of those if none are in progress.
  void sweep(const std::vector<Garbage>& garbage, Terms terms);
  // Keys that no head ever named.
  void discard(std::vector<std::string> keys, const Terms& terms);
  // Removes from a head's garbage the trees that are known to be gone.
  void forget_swept(std::vector<Garbage>& garbage);
  // The connection is a new one: deleted keys may exist again.
  void start_over();

  bool on_answer(unsigned id, const socket::Completion& answer);
  bool poll(calls::Command& command) { return pending_.poll(command); }
  bool empty() const noexcept { return pending_.empty(); }

 private:
  using Verb = protocol::Verb;
  enum Purpose : unsigned { leaf, read_tree, tree_item, tree };
  static constexpr std::size_t window = 64;
  static constexpr unsigned trees_at_once = 4;

  void start(Verb verb, std::string key, Purpose purpose, const Terms& terms);
  void get_tree();
  void on_tree(const socket::Completion& answer);
  void next_tree();
  void give_up();

  const Keys& keys_;
  PendingOperations pending_;
  Terms terms_;                 // for the trees in progress
  std::vector<Id> trees_;       // in progress or next; the last one goes first
  std::uint64_t work_ = 0;      // number of the sweep: answers for trees given up are ignored
  std::size_t items_left_ = 0;  // in the tree in progress
  std::unordered_set<Id> swept_;
};

}  // namespace sheaf::client::list
