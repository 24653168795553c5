// round_trips HOST:PORT [ROUNDS [MILLISECONDS]]: gets of a 100-byte value from one broker with the
// plugin, by sheaf and by libmosquitto, with a raw PINGREQ as the floor and a raw get as the limit.
// Each round measures every contestant once. Prints medians over the rounds; a ratio is the
// median of the ratios within a round.
//
//   sheaf dev --brokers 1        prints mqtt://127.0.0.1:PORT
//   round_trips 127.0.0.1:PORT

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "bench/measure.h"
#include "bench/round_order.h"

namespace {

using bench::Contestant;
using bench::Load;
using bench::Round;

void run(const char* title, const std::vector<Contestant>& contestants, int rounds,
         std::chrono::milliseconds length) {
  std::vector<std::vector<Round>> results(contestants.size());
  for (const Contestant& each : contestants) each.round(length / 4);  // warm-up
  bench::RoundOrder order(contestants.size());
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t i : order.next()) results[i].push_back(contestants[i].round(length));
  }
  const auto column = [&](std::size_t i, double Round::* field) {
    std::vector<double> values;
    for (const Round& round : results[i]) values.push_back(round.*field);
    return bench::median(values);
  };
  const auto ratio = [&](std::size_t i, std::size_t to) {
    std::vector<double> values;
    for (int r = 0; r < rounds; ++r) {
      const auto at = static_cast<std::size_t>(r);
      values.push_back(results[i][at].per_second / results[to][at].per_second);
    }
    return bench::median(values);
  };
  std::printf("\n%s\n%-18s %10s %9s %9s %9s %9s %9s\n", title, "", "trips/s", "p50 us", "p99 us",
              "cpu us", "x ping", "x peer");
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    std::printf("%-18s %10.0f %9.1f %9.1f %9.1f %9.2f %9.2f\n", contestants[i].name.c_str(),
                column(i, &Round::per_second), column(i, &Round::p50_us), column(i, &Round::p99_us),
                column(i, &Round::cpu_us), ratio(i, 0), ratio(i, 1));
  }
}

int run_all(const bench::Target& target, int rounds, std::chrono::milliseconds length) {
  const std::pair<const char*, Load> loads[] = {
      {"1 caller, one request in flight", Load::one},
      {"8 callers (sheaf: one client; peers: a connection each)", Load::eight},
      {"1 caller, 100 requests in flight", Load::hundred},
  };
  for (const auto& [title, load] : loads) {
    const std::vector<Contestant> contestants = {
        bench::raw_ping(target, load), bench::mosquitto_peer(target, load),
        bench::raw_get(target, load), bench::sheaf_peer(target, load, false),
        bench::sheaf_peer(target, load, true)};
    run(title, contestants, rounds, length);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "";
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    std::fprintf(stderr, "usage: round_trips HOST:PORT [ROUNDS [MILLISECONDS]]\n");
    return 2;
  }
  const bench::Target target{address.substr(0, colon),
                             static_cast<unsigned short>(std::atoi(address.c_str() + colon + 1))};
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 7;
  const int length = argc > 3 ? std::max(50, std::atoi(argv[3])) : 500;
  try {
    return run_all(target, rounds, std::chrono::milliseconds(length));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "round_trips: %s\n", error.what());
    return 3;
  }
}
