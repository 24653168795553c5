// Candidates of one election in several threads of one client or two, and an observer, in an order
// that the seed chooses. A run finds:
//  - two that lead at the same moment
//  - a campaign that does not end by its wait, or never ends
//  - a term whose callbacks come twice, never, or in the wrong order
//  - a resignation of one that lost, and one that still leads after it
//  - an observer that does not learn in the end that no one leads
// A lock has one request in flight, and values are only read otherwise, so the order of operations
// on a key is not in question.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <sheaf/leader.h>

#include "tests/sim/kit/room_runs.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// Special: terms. Changes: leaders that the observer saw.
class LeaderRoom final : public ThreadRoom {
 public:
  LeaderRoom(std::uint64_t seed, const Plants& plants)
      : ThreadRoom(draw(seed, 3), plants),
        lease_(std::array{100ms, 300ms, 1000ms}[random_.below(3)]),
        clients_of_room_(1 + static_cast<unsigned>(random_.below(2))) {}

 private:
  struct Candidate {
    std::unique_ptr<LeaderElection> election{};
    unsigned elected = 0;  // reported by callbacks
    unsigned lost = 0;
    unsigned terms = 0;
    unsigned resigned = 0;                  // terms that were given up
    std::shared_ptr<LockGuard> given_up{};  // a term that another thread may have given up
    bool may_be_late = false;               // the loss of the last of them may still be reported
    std::string why{};
  };

  void run() override {
    for (unsigned i = 0; i < clients_of_room_; ++i) clients_.push_back(open_client());
    draw_faults(random_.below(2) == 0 ? 40ms : 1s);
    const auto candidates = static_cast<unsigned>(2 + random_.below(3));
    std::vector<Random> randoms;
    for (unsigned i = 0; i <= candidates; ++i) randoms.emplace_back(random_.fork());
    candidates_ = std::vector<Candidate>(candidates);
    for (unsigned i = 0; i < candidates; ++i) prepare(i);
    run_threads(candidates + 1, [&](unsigned number) {
      if (number == candidates) return observe(randoms[number]);
      for (std::uint64_t rounds = 1 + randoms[number].below(3); rounds > 0; --rounds) {
        run_for_office(candidates_[number], randoms[number]);
      }
      if (--campaigning_ == 0) quiet_ = true;
    });
    end_faults();
    candidates_.clear();
    clients_.clear();
  }

  void prepare(unsigned number) {
    Candidate& candidate = candidates_[number];
    Client& client = clients_[number % clients_.size()];
    candidate.election = std::make_unique<LeaderElection>(
        client, "role", LockerOptions{.holder = std::to_string(number), .lease = lease_});
    candidate.election->on_elected([&candidate](const FencingToken& token) {
      if (token.empty() && candidate.election->leading()) require("a term without a token");
      if (candidate.elected++ != candidate.lost + candidate.resigned) {
        require("a term began before the end of the last one was reported");
      }
      candidate.may_be_late = false;
    });
    candidate.election->on_lost([&candidate](const Error& why) {
      candidate.why = why.message();
      if (std::exchange(candidate.may_be_late, false)) --candidate.resigned;
      if (++candidate.lost + candidate.resigned > candidate.elected) {
        require("a loss without a term: " + candidate.why);
      }
    });
    ++campaigning_;
  }

  template <class Out>
  static Out end_of(Call<Out> call) {
    const auto ended = std::make_shared<std::optional<Out>>();
    std::move(call).then([ended](Out out) {
      if (*ended) require("a callback came twice");
      *ended = std::move(out);
    });
    SimThreads::current()->wait_until("a callback", [&] { return ended->has_value(); });
    return std::move(**ended);
  }

  void run_for_office(Candidate& candidate, Random& random) {
    CampaignOptions options;
    if (random.below(3) == 0) options.wait = 0ns;
    if (random.below(3) == 0) options.wait = 30ms + draw_us(random, 500'000);
    LeaderElection& election = *candidate.election;
    const Start started = begin_call();
    const auto elected = random.below(2) == 0 ? end_of(election.async().campaign(options))
                                              : election.campaign(options);
    if (options.wait) {
      end_call(started, *options.wait + stack_.config.timeout);
    } else if (elected && !*elected) {
      require("a campaign without an end ended");
    }
    if (!elected && elected.error().reason == Reason::cancelled) return;  // see below
    given_up_ = given_up_ || !elected || !*elected;
    if (!elected) return check_error(elected.error());
    if (*elected) lead(candidate, random);
    // A resignation of another thread may end that one's campaign, or its first term, if that began
    // just now. The loss of a term that was given up is not reported.
    if (random.below(8) != 0) return;
    Candidate& other = candidates_[random.below(candidates_.size())];
    if (other.election->term() != nullptr) return;
    static_cast<void>(other.election->resign());
    other.given_up = other.election->term();
  }

  void lead(Candidate& candidate, Random& random) {
    ++counts_.special;
    const unsigned terms = ++candidate.terms;
    const auto term = candidate.election->term();
    check_exclusion(*term);
    leading_.push_back(term);
    pass(random.below(3) == 0 ? 2 * lease_ : draw_us(random, 50'000));
    if (faulty_ && random.below(4) == 0) {
      for (unsigned i = 0; i < stack_.size(); ++i) stack_.broker(i).reset_all();
    }
    check_exclusion(*term);
    std::erase(leading_, term);
    if (!term->held()) {
      SimThreads::current()->wait_until("a loss to be reported", [&] {
        return candidate.lost + candidate.resigned >= terms || candidate.given_up == term;
      });
      if (calm() && !may_be_cut_off() && candidate.given_up != term) {
        require("a leader lost for nothing: " + candidate.why);
      }
      if (candidate.election->leading()) require("one that lost leads");
    }
    const unsigned lost = candidate.lost;
    const Start started = begin_call();
    const auto resigned = random.below(2) == 0 ? end_of(candidate.election->async().resign())
                                               : candidate.election->resign();
    end_call(started);
    if (candidate.election->leading()) require("one that resigned leads");
    if (resigned && *resigned && lost + candidate.resigned >= terms) {
      require("one that had lost resigned");
    }
    if (candidate.lost + candidate.resigned < terms) {
      ++candidate.resigned;
      // A report of its loss that was about to run may still come.
      candidate.may_be_late = !resigned || !*resigned;
    }
    if (!resigned) check_error(resigned.error());
  }

  // leading() takes time, so the one that was elected earlier is asked first.
  void check_exclusion(const LockGuard& term) {
    for (const auto& other : std::vector(leading_)) {
      if (other.get() != &term && other->held() && term.held()) require("two lead");
    }
  }

  // On memcached a request whose caller no longer waits ends its connection, and with it the locks
  // taken on that connection.
  bool may_be_cut_off() const { return stack_.config.kind == EndpointKind::memcached && given_up_; }

  void observe(Random& random) {
    LeaderElection observer(clients_.back(), "role");
    std::optional<Leader> last;
    const Deadline latest = 30s;  // all leases are over, and a look of each second
    Deadline quiet_at = never;
    while (!quiet_ || !last || last->holder) {
      const Deadline now = stack_.world.now().mono;
      if (quiet_) quiet_at = std::min(quiet_at, now);
      if (quiet_at != never && now - quiet_at > latest) require("the observer was not told");
      const NextOptions options{.wait = 10ms + draw_us(random, 400'000)};
      const Start started = begin_call();
      const auto next = random.below(2) == 0 ? end_of(observer.async().next_leader(options))
                                             : observer.next_leader(options);
      end_call(started, *options.wait + stack_.config.timeout);
      if (!next) require("an observer failed: " + next.error().message());
      if (!*next) continue;
      ++counts_.changes;
      last = **next;
    }
  }

  const std::chrono::milliseconds lease_;
  const unsigned clients_of_room_;
  std::vector<Client> clients_;
  std::vector<Candidate> candidates_;
  std::vector<std::shared_ptr<LockGuard>> leading_;
  unsigned campaigning_ = 0;
  bool quiet_ = false;     // no one campaigns any more
  bool given_up_ = false;  // a candidate was not elected in time
};

TEST(LeaderRoom, TwoNeverLeadAndEveryCampaignEndsForEverySeed) {
  const Seeds seeds = seeds_of(800);
  const RoomCounts sum = run_seeds<LeaderRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, 2 * seeds.count());
  EXPECT_GT(sum.changes, 2 * seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(LeaderRoom, TwoNeverLeadWithADriverForEverySeed) {
  run_seeds<LeaderRoom>(seeds_of(300), {.driven = true});
}

// Seeds in which a campaign is given up as it wins, and the server then falls silent: the campaign
// must not wait for the answer to its release.
TEST(LeaderRoom, ACampaignThatIsGivenUpAsItWinsEndsInTime) {
  EXPECT_EQ(run_room<LeaderRoom>(93'539).finding, "");
  EXPECT_EQ(run_room<LeaderRoom>(53'829, {.driven = true}).finding, "");
}

TEST(LeaderRoom, ASeedReplaysExactly) { expect_replays<LeaderRoom>(20); }

TEST(LeaderRoom, AClientThatTakesARefusedLockForItsOwnIsFound) {
  EXPECT_LT(first_finding<LeaderRoom>({.session = Bug::takes_no_for_yes}), 50u);
}

}  // namespace
}  // namespace sheaf::sim
