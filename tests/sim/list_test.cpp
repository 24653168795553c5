// Lists under random pauses, kills, lost and late requests. Acknowledged items are never lost, none
// is doubled or torn, and each writer's order is kept. The controls show that the rules are needed.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/sim_mangler.h"
#include "tests/sim/list_world.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using client::list::Edit;
using client::list::Ids;

// Leases and time-outs of some milliseconds, so that any pause may outlast them.
ListRules brisk_rules() {
  ListRules rules;
  rules.store.lease = 60ms;
  rules.store.step_timeout = 40ms;
  rules.store.last_poll = 30ms;
  rules.writer.plan.tail = 2;
  rules.writer.plan.segment = 4;
  return rules;
}

// On memcached items live for a second, so everything that was not made permanent is gone at the
// end.
ListRules brisk_memcached_rules() {
  ListRules rules = brisk_rules();
  rules.ids = Ids::drawn;
  rules.cas.step_timeout = 40ms;
  rules.cas.life = 1s;
  return rules;
}

// The findings of one seed's run.
struct Findings {
  bool lost = false;
  bool doubled = false;
  bool torn = false;  // a reader saw a state that never existed, or a damaged list
  bool disorder = false;
  bool invented = false;  // an item that was never written, or was reported as not written
  bool stuck = false;     // it cannot be written or read after all faults have ended
  std::string what;

  bool any() const { return lost || doubled || torn || disorder || invented || stuck; }
};

class ListRun {
 public:
  static constexpr unsigned writers = 3;
  static constexpr unsigned pushes = 8;  // by each writer

  // `takes`: a third of the edits, at random, takes the first item out.
  ListRun(std::uint64_t seed, const ListRules& rules, bool takes = false)
      : random_(seed ^ 0x115), rules_(rules), takes_(takes), stack_(seed, 1, kind_of(rules.ids)) {
    mix_ = random_.below(64);
    stack_.config.pool_max = 1 + static_cast<unsigned>(random_.below(2));
    stack_.config.busy_timeout = 500ms;
    if (has(0)) stack_.broker(0).faults.jitter = 3ms;
    rates_.drop = has(1) ? 0.03 : 0;
    rates_.delay = has(1) ? 0.05 : 0;
    if (has(1) && rules_.ids == Ids::drawn) {
      stack_.broker(0).faults.reset = 0.01;
    } else if (has(1)) {
      stack_.broker(0).mangle = [this] {
        return std::make_unique<PublishMangler>(rates_, random_, counts_);
      };
    }
    for (unsigned w = 0; w < writers; ++w) {
      all_.push_back(std::make_unique<SimWriter>(stack_.add_client(), rules_, seed * 16 + w));
    }
    reader_ = &stack_.add_client();
  }

  Findings run() {
    for (unsigned w = 0; w < writers; ++w) begin(w);
    for (int step = 0; step < 150; ++step) {
      if (random_.below(3) == 0) fault();
      if (step % 5 == 0) reads_.push_back(std::make_unique<SimRead>(*reader_, rules_, 500ms));
      stack_.world.run_for(std::chrono::microseconds(200 + random_.below(8'000)));
    }
    settle();
    return findings_;
  }

 private:
  bool has(unsigned bit) const { return (mix_ >> bit & 1) != 0; }

  // Pushes one item after another, or keeps two pushes in progress in some runs.
  void begin(unsigned w) {
    SimWriter& writer = *all_[w];
    writer.on_ended = [this, w](SimEdit& edit, Now now) {
      if (edit.edit.kind == Edit::Kind::remove) {
        note_taken(edit);
      } else if (edit.outcome->has_value()) {
        acked_at_[edit.edit.values.front()] = now.mono;
      }
      next(w);
    };
    next(w);
    if (has(2)) next(w);
  }

  void next(unsigned w) {
    if (over_ || next_[w] >= pushes) return;
    const auto timeout = std::chrono::milliseconds(50 + random_.below(1'500));
    if (takes_ && random_.below(3) == 0) {
      ++next_[w];
      all_[w]->edit(Edit{Edit::Kind::remove, 0, {}}, timeout);
      return;
    }
    all_[w]->push(std::to_string(w) + "/" + std::to_string(next_[w]++), timeout);
  }

  void note_taken(const SimEdit& edit) {
    if (!edit.outcome->has_value()) {
      unknown_takes_ += edit.outcome->error().outcome == Outcome::unknown;
    } else if ((*edit.outcome)->removed && !taken_.insert(*(*edit.outcome)->removed).second) {
      note(findings_.doubled, "taken twice: " + *(*edit.outcome)->removed);
    }
  }

  void fault() {
    StackClient& victim = all_[random_.below(writers)]->client();
    const auto length = std::chrono::milliseconds(1 + random_.below(150));
    switch (random_.below(6)) {
      case 0:
      case 1:
      case 2:  // may outlast its lease
        return victim.loop().stop_for(length);
      case 3:  // never resumes; its requests may still arrive
        if (has(3) && dead_ + 1 < writers && random_.below(4) == 0) {
          ++dead_;
          victim.loop().stop_for(1h);
        }
        return;
      case 4:  // executes requests abandoned meanwhile when it resumes
        if (!has(4) || !stack_.broker(0).serving()) return;
        stack_.broker(0).stop_for(length);
        return;
      default:
        if (has(5)) stack_.broker(0).reset_all();
        return;
    }
  }

  void settle() {
    over_ = true;
    rates_ = {};
    stack_.broker(0).faults = {};
    stack_.world.run_for(8s);
    SimWriter& last =
        *all_.emplace_back(std::make_unique<SimWriter>(stack_.add_client(), rules_, 77));
    const SimEdit& edit = last.push("last/0", 5s);
    stack_.world.run_for(6s);
    if (!edit.outcome || !edit.outcome->has_value()) {
      findings_.stuck = true;
      findings_.what += edit.outcome ? edit.outcome->error().message() : "no end";
      return;
    }
    acked_at_["last/0"] = edit.started;
    reads_.push_back(std::make_unique<SimRead>(*reader_, rules_, 5s));
    stack_.world.run_for(6s);
    for (const auto& read : reads_) check(*read, read == reads_.back());
  }

  // Counts takes of writers that never resumed: they may have been carried out.
  unsigned open_takes() const {
    unsigned open = 0;
    for (const auto& writer : all_) {
      for (const SimEdit& edit : writer->edits()) {
        if (edit.edit.kind == Edit::Kind::remove && !edit.outcome) ++open;
      }
    }
    return open;
  }

  void check(const SimRead& read, bool last) {
    if (!read.out) return void(findings_.stuck = true);
    if (!*read.out) {
      const Error& error = read.out->error();
      if (error.outcome == Outcome::refused) note(findings_.torn, error.message());
      if (last) note(findings_.stuck, error.message());
      return;
    }
    const auto& items = (*read.out)->items;
    const std::set<std::string> set(items.begin(), items.end());
    if (set.size() != items.size()) note(findings_.doubled, "an item twice");
    std::map<std::string, int> newest;
    for (const std::string& item : items) {
      const std::size_t slash = item.find('/');
      if (slash == item.npos) return note(findings_.torn, "a strange item " + item);
      int& before = newest.try_emplace(item.substr(0, slash), -1).first->second;
      const int number = std::stoi(item.substr(slash + 1));
      if (number < before) note(findings_.disorder, item);
      before = number;
    }
    std::string missing;
    unsigned misses = 0;
    for (const auto& [item, at] : acked_at_) {
      if (at >= read.started || set.contains(item) || taken_.contains(item)) continue;
      missing += item + " ";
      ++misses;
    }
    const unsigned may_be_taken = unknown_takes_ + open_takes();
    if (takes_ && last ? misses > may_be_taken : !takes_ && misses > 0) {
      note(last ? findings_.lost : findings_.torn, missing);
    }
    if (!last) return;
    for (const std::string& item : items) {
      if (taken_.contains(item)) note(findings_.doubled, "taken and there: " + item);
    }
    for (const auto& writer : all_) {
      for (const SimEdit& edit : writer->edits()) {
        if (edit.edit.kind == Edit::Kind::remove) continue;
        const bool may_be = !edit.outcome || edit.outcome->has_value() ||
                            edit.outcome->error().outcome == Outcome::unknown;
        if (!may_be && set.contains(edit.edit.values.front())) {
          note(findings_.invented,
               edit.edit.values.front() + ": " + edit.outcome->error().message());
        }
      }
    }
  }

  void note(bool& flag, const std::string& what) {
    flag = true;
    findings_.what += what + "; ";
  }

  Random random_;
  ListRules rules_;
  bool takes_;
  std::uint64_t mix_ = 0;
  MangleRates rates_;
  MangleCounts counts_;
  // Outlive the clients.
  std::vector<std::unique_ptr<SimRead>> reads_;
  std::vector<std::unique_ptr<SimWriter>> all_;
  Stack stack_;
  StackClient* reader_ = nullptr;
  std::map<unsigned, unsigned> next_;
  std::map<std::string, Deadline> acked_at_;
  std::set<std::string> taken_;
  unsigned unknown_takes_ = 0;
  unsigned dead_ = 0;
  bool over_ = false;
  Findings findings_;
};

// True if the run of one of the first seeds has the wanted finding.
bool finds(const ListRules& rules, std::uint64_t seeds, bool (*wanted)(const Findings&)) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    if (wanted(ListRun(seed, rules).run())) return true;
  }
  return false;
}

void expect_nothing_found(const ListRules& rules) {
  for (const std::uint64_t seed : seeds_of(300)) {
    const Findings found = ListRun(seed, rules, seed % 2 == 0).run();
    ASSERT_FALSE(found.any()) << "lost " << found.lost << " doubled " << found.doubled << " torn "
                              << found.torn << " disorder " << found.disorder << " invented "
                              << found.invented << " stuck " << found.stuck << " " << found.what;
  }
}

TEST(ListFaults, NoItemIsLostDoubledOrTornAndOrderIsKeptForEverySeed) {
  expect_nothing_found(brisk_rules());
}

TEST(ListFaults, OnMemcachedNoItemIsLostDoubledOrTornAndOrderIsKeptForEverySeed) {
  expect_nothing_found(brisk_memcached_rules());
}

// The controls: what the same runs find when a rule is left out.
TEST(ListFaults, WithoutTheClaimAcknowledgedItemsAreLost) {
  ListRules rules = brisk_rules();
  rules.store.controls.claim = false;
  EXPECT_TRUE(finds(rules, 300, [](const Findings& run) { return run.lost; }));
  EXPECT_TRUE(finds(rules, 300, [](const Findings& run) { return run.doubled; }));
}

TEST(ListFaults, SegmentsChangedInPlaceTearAReader) {
  ListRules rules = brisk_rules();
  rules.writer.plan.controls.new_segments = false;
  EXPECT_TRUE(finds(rules, 60, [](const Findings& run) { return run.torn; }));
}

TEST(ListFaults, OnMemcachedAHeadThatIsNotComparedLosesAcknowledgedItems) {
  ListRules rules = brisk_memcached_rules();
  rules.cas.controls.compare = false;
  EXPECT_TRUE(finds(rules, 60, [](const Findings& run) { return run.lost; }));
}

// A writer that is killed between its commit and the touch takes items of other writers with it.
TEST(ListFaults, OnMemcachedItemsThatAreTouchedAfterTheCommitAreLost) {
  ListRules rules = brisk_memcached_rules();
  rules.cas.controls.touch_first = false;
  EXPECT_TRUE(finds(rules, 300, [](const Findings& run) { return run.lost || run.torn; }));
}

}  // namespace
}  // namespace sheaf::sim
