// One list changed by several threads of one client and of two, in an order that the seed chooses.
// A run finds:
//  - an item that is lost, that appears twice, or that was never pushed
//  - items of one thread out of order
//  - a call that lasts longer than its timeout, or fails although nothing is wrong
// The order of items is checked; a list's requests on one key never overlap (list_world.h).

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/list.h>

#include "tests/sim/kit/room_runs.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// Special: items that were pushed.
class ListRoom final : public ThreadRoom {
 public:
  ListRoom(std::uint64_t seed, const Plants& plants)
      : ThreadRoom(draw(seed, 2), plants),
        clients_of_room_(1 + static_cast<unsigned>(random_.below(2))) {
    for (std::uint64_t i = 2 + random_.below(3); i > 0; --i) {
      callers_.push_back({Random(random_.fork()), std::string(1, static_cast<char>('a' + i))});
    }
  }

 private:
  // The known state of an item.
  struct Item {
    Result<void> pushed;
    bool popped = false;
  };
  struct Caller {
    Random random;
    std::string name;
    unsigned pushed = 0;
  };

  void run() override {
    for (unsigned i = 0; i < clients_of_room_; ++i) clients_.push_back(open_client());
    draw_faults();
    run_threads(static_cast<unsigned>(callers_.size()), [&](unsigned number) {
      Caller& caller = callers_[number];
      List list(clients_[number % clients_.size()], "jobs");
      for (std::uint64_t edits = 2 + caller.random.below(6); edits > 0; --edits) {
        edit(list, caller);
      }
      SimThreads::current()->wait_until("the last callbacks", [this] { return pending_ == 0; });
    });
    end_faults();
    check_rest();
    clients_.clear();
  }

  void edit(List& list, Caller& caller) {
    switch (caller.random.below(7)) {
      case 0:
      case 1:
        return push(list, caller);
      case 2:
        return push_async(list, caller);
      case 3:
        return push_many(list, caller);
      case 4:
      case 5:
        return pop(list);
      default:
        return rest(caller.random);
    }
  }

  // A caller's items are pushed one after another, except for those in flight together.
  std::string next_item(Caller& caller) {
    std::string item = caller.name + std::to_string(++caller.pushed);
    ++counts_.special;
    items_.emplace(item, Item{unknown(), false});
    return item;
  }
  static Result<void> unknown() {
    Error error;
    error.outcome = Outcome::unknown;
    return Failure(error);
  }
  void end_push(const std::string& item, const Error* error) {
    if (error == nullptr) {
      items_.at(item).pushed = {};
      return;
    }
    check_error(*error);
    items_.at(item).pushed = Failure(*error);
    if (error->outcome != Outcome::unknown && items_.at(item).popped) {
      require(item + " was popped, but " + error->message());
    }
  }

  void push(List& list, Caller& caller) {
    const std::string item = next_item(caller);
    const Start started = begin_call();
    const auto length = list.push(item);
    end_call(started, limit());
    end_push(item, length ? nullptr : &length.error());
  }

  void push_many(List& list, Caller& caller) {
    std::vector<std::string> items;
    for (std::uint64_t i = 1 + caller.random.below(5); i > 0; --i) {
      items.push_back(next_item(caller));
    }
    const std::vector<std::string_view> views(items.begin(), items.end());
    const Start started = begin_call();
    const PushManyResult result = list.push_many(views);
    end_call(started, limit());
    if (!result.error && result.pushed != items.size()) require("push_many forgot an item");
    for (std::size_t i = 0; i < items.size(); ++i) {
      end_push(items[i], i < result.pushed ? nullptr : &*result.error);
    }
  }

  void push_async(List& list, Caller& caller) {
    ++pending_;
    const std::string item = next_item(caller);
    list.async().push(item).then(
        [this, item, started = begin_call(),
         ended = std::make_shared<bool>(false)](const Result<std::uint64_t>& length) {
          if (std::exchange(*ended, true)) require("a callback came twice");
          end_call(started, limit());
          end_push(item, length ? nullptr : &length.error());
          --pending_;
        });
  }

  void pop(List& list) {
    const Start started = begin_call();
    const auto popped = list.remove(0);
    end_call(started, limit());
    if (!popped) {
      check_error(popped.error());
      if (popped.error().outcome == Outcome::unknown) ++pops_unknown_;
    } else if (popped->has_value()) {
      take(**popped);
    }
  }

  // Records that an item was popped, or is in the list at the end.
  void take(const std::string& item) {
    const auto found = items_.find(item);
    if (found == items_.end()) return require(item + " was never pushed");
    if (std::exchange(found->second.popped, true)) require(item + " is there twice");
    const Result<void>& pushed = found->second.pushed;
    if (!pushed && pushed.error().outcome != Outcome::unknown) {
      require(item + " is there, but " + pushed.error().message());
    }
  }

  void check_rest() {
    List list(clients_.front(), "jobs");
    const auto left = list.range(0, -1);
    if (!left) return require("the list cannot be read: " + left.error().message());
    std::map<char, int> last;
    for (const std::string& item : *left) {
      take(item);
      const int number = std::stoi(item.substr(1));
      if (number <= last[item.front()]) require(item + " is out of order");
      last[item.front()] = number;
    }
    unsigned lost = 0;
    for (const auto& [name, item] : items_) lost += item.pushed && !item.popped ? 1 : 0;
    if (lost > pops_unknown_) require(std::to_string(lost) + " items are lost");
  }

  std::chrono::nanoseconds limit() const { return 5 * stack_.config.timeout; }

  const unsigned clients_of_room_;
  std::vector<Client> clients_;
  std::vector<Caller> callers_;
  std::map<std::string, Item> items_;
  unsigned pending_ = 0;
  unsigned pops_unknown_ = 0;
};

TEST(ListRoom, NothingIsLostAndNothingIsThereTwiceForEverySeed) {
  const Seeds seeds = seeds_of(1800);
  const RoomCounts sum = run_seeds<ListRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, 5 * seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(ListRoom, NothingIsLostWhileServersComeAndGoForEverySeed) {
  const Seeds seeds = seeds_of(600);
  const RoomCounts sum = run_seeds<ListRoom>(seeds, {.servers_change = true});
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.changes, 2 * seeds.count());
  EXPECT_GT(sum.special, 5 * seeds.count());
}

TEST(ListRoom, ASeedReplaysExactly) { expect_replays<ListRoom>(20); }

TEST(ListRoom, AWriterThatTakesALostRaceForWonIsFound) {
  EXPECT_LT(first_finding<ListRoom>({.session = Bug::takes_no_for_yes}), 100u);
}

}  // namespace
}  // namespace sheaf::sim
