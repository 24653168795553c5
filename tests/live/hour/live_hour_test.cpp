// A live hour: two clusters of the same software and a pair of servers behind a name, each with a
// load of its own, and one event after another. Every value is the right cluster's, the
// calls of a key take effect in their order, and the load is back within 2 s of each event.
//
// SHEAF_HOUR_SECONDS is the time for each software, SHEAF_HOUR_SEED decides which events there are
// and where, and SHEAF_HOUR_EVENTS names some kinds, if not all are wanted: moves, failovers,
// addresses, names, demotions. It ends with a table.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/live/hour/hour_cluster.h"
#include "tests/live/hour/named_pair.h"
#include "tests/support/extent.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

class LiveHour : public testing::Test {
 protected:
  // Returns when the time is over; all events of a round come before the next round.
  void run(RespSoftware software) {
    const auto seed = number_from_environment("SHEAF_HOUR_SEED", 1);
    const std::chrono::seconds time(number_from_environment("SHEAF_HOUR_SECONDS", 300));
    Random random(seed);
    HourCluster a(software, "A", record, 4 * seed);
    HourCluster b(software, "B", record, 4 * seed + 1);
    NamedPair pair(software, a.observer, record, 4 * seed + 2);
    const auto end = std::chrono::steady_clock::now() + time;
    try {
      while (std::chrono::steady_clock::now() < end) {
        const bool a_first = random.below(2) == 0;
        for (const auto& event : round(a_first ? a : b, a_first ? b : a, pair, random)) {
          if (std::chrono::steady_clock::now() >= end) break;
          event();
        }
      }
    } catch (const std::runtime_error& error) {
      ADD_FAILURE() << "the servers do not do as they are told: " << error.what();
    }
    pair.finish();
    a.finish();
    b.finish();
    const auto delay = std::max(a.observer.longest_delay_ever(), b.observer.longest_delay_ever());
    std::printf("%s, seed %llu, %lld s; the machine was late by up to %.2f s\n%s",
                traits_of(software).name, static_cast<unsigned long long>(seed),
                static_cast<long long>(time.count()), std::chrono::duration<double>(delay).count(),
                record.table().c_str());
    std::fflush(stdout);
    if (const std::string all = record.complaints(); !all.empty()) ADD_FAILURE() << all;
  }

  HourRecord record;

 private:
  using Events = std::vector<std::function<void()>>;

  static bool wanted(std::string_view kind) {
    const char* const named = std::getenv("SHEAF_HOUR_EVENTS");
    return named == nullptr || std::string_view(named).contains(kind);
  }

  // Every wanted kind of event, in random order, some on this cluster and some on the other.
  static Events round(HourCluster& one, HourCluster& another, NamedPair& pair, Random& random) {
    const bool elects = !one.cluster.is_garnet();
    Events events;
    const auto add = [&](const char* kind, std::function<void()> event) {
      if (wanted(kind)) events.push_back(std::move(event));
    };
    add("moves", [&] { one.move_slots(random); });
    add("moves", [&] { another.move_slots(random); });
    add("failovers", [&] { one.fail_over(random); });
    add("failovers", [&] { another.fail_over_by_force(random); });
    if (elects) add("failovers", [&] { one.lose_a_primary(random); });
    add("addresses", [&] { one.take_an_address(another, random); });
    add("names", [&] { pair.kill_and_move(); });
    if (elects) add("demotions", [&] { pair.demote_and_move(); });
    if (events.empty()) throw std::runtime_error("SHEAF_HOUR_EVENTS names no event");
    for (std::size_t left = events.size(); left > 1; --left) {
      std::swap(events[left - 1], events[random.below(left)]);
    }
    return events;
  }
};

TEST_F(LiveHour, TwoRedisClustersAndAPairBehindAName) { run(usual_software()); }

TEST_F(LiveHour, TwoGarnetClustersAndAPairBehindAName) {
  if (!is_installed(RespSoftware::garnet)) GTEST_SKIP() << not_installed(RespSoftware::garnet);
  run(RespSoftware::garnet);
}

}  // namespace
}  // namespace sheaf::test

#endif
