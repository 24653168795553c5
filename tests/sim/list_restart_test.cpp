// A store that loses its memory again and again: readers see a list from one of its lives, or an
// error, and versions of different lives are never compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/list_world.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using client::list::Edit;
using client::list::Ids;
using Items = std::vector<std::string>;

class ListRestart : public testing::TestWithParam<Ids> {};
INSTANTIATE_TEST_SUITE_P(On, ListRestart, both_kinds, name_of);

// What readers saw while the store lost its memory again and again.
struct Seen {
  unsigned good = 0;
  unsigned torn = 0;   // an item is doubled, or something that the head names is missing
  unsigned mixed = 0;  // items of two lives of the store in one list, or of a life that was over
  std::string what;
};

class RestartRun {
 public:
  RestartRun(std::uint64_t seed, const ListRules& rules, Seen& seen)
      : seed_(seed),
        rules_(rules),
        seen_(seen),
        random_(seed),
        stack_(seed, 1, kind_of(rules.ids)) {
    if (seed % 2 == 0) {  // most items in segments
      rules_.writer.plan.tail = 2;
      rules_.writer.plan.segment = 4;
    }
    stack_.broker(0).faults.delay = std::chrono::microseconds(100 + random_.below(4'000));
    stack_.broker(0).faults.jitter = 4ms;
    for (unsigned w = 0; w < 2; ++w) {
      auto writer = std::make_unique<SimWriter>(stack_.add_client(), rules_, seed * 8 + w);
      writer->on_ended = [this](SimEdit& edit, Now now) {
        if (edit.outcome->has_value()) lives_[edit.edit.values.front()].last = life(now.mono);
      };
      writers_.push_back(std::move(writer));
    }
    reader_ = &stack_.add_client();
  }

  void run() {
    for (int step = 0; step < 120; ++step) {
      for (const auto& writer : writers_) {
        if (random_.below(2) == 0) push(*writer);
      }
      reads_.push_back(std::make_unique<SimRead>(*reader_, rules_, 300ms));
      if (random_.below(20) == 0) crash_soon();
      stack_.world.run_for(std::chrono::milliseconds(random_.below(60)));
    }
    stack_.world.run_for(3s);
    for (const auto& read : reads_) check(*read);
  }

 private:
  // The lives of the store, counted from 0, in which an item may have been committed.
  struct Lives {
    unsigned first = 0;
    unsigned last = std::numeric_limits<unsigned>::max();
  };

  unsigned life(Deadline at) const {
    return static_cast<unsigned>(
        std::ranges::count_if(crashes_, [at](Deadline crash) { return crash <= at; }));
  }
  void push(SimWriter& writer) {
    const std::string item = std::to_string(lives_.size());
    lives_[item].first = life(stack_.world.now().mono);
    writer.push(item, 300ms);
  }
  // Crashes the store in the middle of the work. The reader may stall until others have written.
  void crash_soon() {
    const auto until = std::chrono::microseconds(random_.below(30'000));
    const auto down = std::chrono::milliseconds(random_.below(3) * random_.below(200));
    const auto still = std::chrono::milliseconds(random_.below(2) * random_.below(150));
    stack_.world.after(until, [this, down, still](Now now) {
      if (!stack_.broker(0).serving()) return;
      if (still > 0ms) reader_->loop().stop_for(still);
      crashes_.push_back(now.mono);
      stack_.broker(0).crash();
      stack_.world.after(down, [this](Now) { stack_.broker(0).restart(); });
    });
  }

  void check(const SimRead& read) {
    ASSERT_TRUE(read.out);
    if (!*read.out) {
      if (read.out->error().outcome == Outcome::refused) {
        note(seen_.torn, read.out->error().message());
      }
      return;
    }
    const Items& items = (*read.out)->items;
    if (std::set<std::string>(items.begin(), items.end()).size() != items.size()) {
      return note(seen_.torn, "an item twice");
    }
    Lives common{.first = life(read.started)};
    for (const std::string& item : items) {
      ASSERT_TRUE(lives_.contains(item)) << item;
      common.first = std::max(common.first, lives_[item].first);
      common.last = std::min(common.last, lives_[item].last);
    }
    if (common.first > common.last) return note(seen_.mixed, "old and new items");
    ++seen_.good;
  }
  void note(unsigned& count, const std::string& what) {
    ++count;
    seen_.what = "seed " + std::to_string(seed_) + ": " + what;
  }

  std::uint64_t seed_;
  ListRules rules_;
  Seen& seen_;
  Random random_;
  std::map<std::string, Lives> lives_;  // of all items
  std::vector<Deadline> crashes_;
  // Outlive the clients.
  std::vector<std::unique_ptr<SimRead>> reads_;
  std::vector<std::unique_ptr<SimWriter>> writers_;
  Stack stack_;
  StackClient* reader_ = nullptr;
};

// A memory-only store that restarts has lost the list. A client that still knows the old head must
// not bring it back without what it names. Readers see a list pushed since then, or an error.
TEST_P(ListRestart, AStoreThatLostItsMemoryHasNoTornListAndNoOldItemsForEverySeed) {
  ListRules rules;
  rules.ids = GetParam();
  Seen seen;
  const Seeds seeds = seeds_of(60);
  for (const std::uint64_t seed : seeds) {
    RestartRun(seed, rules, seen).run();
    EXPECT_EQ(seen.torn, 0u) << seen.what;
    EXPECT_EQ(seen.mixed, 0u) << seen.what;
  }
  if (!seeds.adds_up()) return;
  EXPECT_GT(seen.good, seeds.count() * 50) << "of 120 reads each";
}

// The store loses its memory in the middle of a long read. Before the reader notices, the store has
// another list of the same shape. Returns how many old and new items the reader got.
std::pair<std::size_t, std::size_t> read_over_a_restart(Ids ids, std::chrono::nanoseconds crash) {
  constexpr std::size_t items = 600;  // more than a reader requests at once
  ListRules rules;
  rules.ids = ids;
  std::unique_ptr<SimRead> read;
  std::vector<std::unique_ptr<SimWriter>> writers;
  Stack stack(1, 1, kind_of(ids));
  stack.broker(0).faults.delay = 1ms;
  const auto push = [&](const std::string& value) {
    writers.push_back(std::make_unique<SimWriter>(stack.add_client(), rules, writers.size()));
    const SimEdit& edit = writers.back()->edit(Edit{Edit::Kind::push, 0, Items(items, value)}, 5s);
    stack.world.run(edit.deadline, [&] { return edit.outcome.has_value(); });
    ASSERT_TRUE(edit.outcome->has_value());
  };
  StackClient& reader = stack.add_client();
  push("old");
  reader.get("x", 1s);  // connects
  stack.world.run_for(1s);
  read = std::make_unique<SimRead>(reader, rules, 5s);
  stack.world.run_for(crash);
  reader.loop().stop_for(1s);
  stack.broker(0).crash();
  stack.broker(0).restart();
  push("new");
  stack.world.run_for(6s);
  if (!read->out || !*read->out) return {0, 0};
  const Items& got = (*read->out)->items;
  return {std::ranges::count(got, "old"), std::ranges::count(got, "new")};
}

TEST_P(ListRestart, AReadInWhoseMiddleTheStoreRestartsGivesTheOldOrTheNewList) {
  unsigned only_old = 0;
  unsigned only_new = 0;
  for (auto crash = 0us; crash <= 20ms; crash += 250us) {
    SCOPED_TRACE("crash after " + std::to_string(crash.count()) + " us");
    const auto [old_items, new_items] = read_over_a_restart(GetParam(), crash);
    EXPECT_TRUE(old_items == 0 || new_items == 0) << old_items << " old, " << new_items << " new";
    only_old += old_items == 600;
    only_new += new_items == 600;
  }
  EXPECT_GT(only_old, 10u) << "the read was over before the crash";
  EXPECT_GT(only_new, 10u) << "the read began anew";
}

// One writer knows a head of version 2. The server restarts, and another writer makes a head that
// also has version 2. Then the first writer pushes. Returns the resulting list, or why it cannot be
// read.
std::string after_a_restart(bool same_connection) {
  ListRules rules;
  rules.ids = Ids::drawn;
  rules.cas.controls.same_connection = same_connection;
  std::unique_ptr<SimRead> read;
  std::vector<std::unique_ptr<SimWriter>> writers;
  Stack stack(1, 1, EndpointKind::memcached);
  for (unsigned w = 0; w < 2; ++w) {
    writers.push_back(std::make_unique<SimWriter>(stack.add_client(), rules, w));
  }
  const auto push = [&](unsigned writer, const std::string& value) {
    const SimEdit& edit = writers[writer]->push(value, 2s);
    stack.world.run_for(2s);
    return edit.outcome && edit.outcome->has_value();
  };
  EXPECT_TRUE(push(0, "before"));
  stack.broker(0).crash();
  stack.broker(0).restart();
  EXPECT_TRUE(push(1, "theirs"));
  EXPECT_TRUE(push(0, "ours"));
  read = std::make_unique<SimRead>(stack.client(1), rules, 1s);
  stack.world.run_for(1s);
  if (!*read->out) return read->out->error().text;
  std::string all;
  for (const std::string& item : (*read->out)->items) all += item + " ";
  return all;
}

TEST(ListVersions, OneOfBeforeARestartIsNotComparedWithOneOfAfterIt) {
  EXPECT_EQ(after_a_restart(true), "theirs ours ");
  EXPECT_NE(after_a_restart(false).find("damaged"), std::string::npos) << "the control";
}

}  // namespace
}  // namespace sheaf::sim
