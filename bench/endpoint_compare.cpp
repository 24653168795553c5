// endpoint_compare NAME=URI... [--rounds N] [--milliseconds N]: sheaf on endpoints that differ in
// one thing, such as TLS or where a store keeps its data. Gets and sets of 100-byte values over
// 1,000 keys. Each round measures every endpoint once. Prints medians over the rounds, and the
// least, median and largest ratio to the first endpoint of the same round.

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/client.h>

#include "bench/measure.h"
#include "bench/round_order.h"

namespace {

using bench::Round;
using bench::Samples;
using Stop = std::function<bool()>;

constexpr std::size_t key_count = 1'000;
const std::string value(100, 'v');

struct Endpoint {
  std::string name;
  std::shared_ptr<sheaf::Client> client;
};

struct Work {
  const char* title;
  bool sets;
  unsigned callers;
  unsigned in_flight;  // for each caller; above 1: asynchronous
};
constexpr std::array works{Work{"gets, 1 caller", false, 1, 1},
                           Work{"gets, 8 callers", false, 8, 1}, Work{"sets, 1 caller", true, 1, 1},
                           Work{"sets, 8 callers", true, 8, 1},
                           Work{"sets, 1 caller, 100 in flight", true, 1, 100}};

std::string key_of(unsigned thread, std::size_t number) {
  return "bench/" + std::to_string((thread * 125 + number) % key_count);
}

void check(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what);
}

void run_blocking(sheaf::Client& client, const Work& work, unsigned thread, const Stop& stop,
                  Samples& out) {
  for (std::size_t number = 0; !stop(); ++number) {
    const std::string key = key_of(thread, number);
    const auto start = std::chrono::steady_clock::now();
    if (work.sets) {
      const auto done = client.set(key, value);
      check(done.has_value(), done ? "" : done.error().message());
    } else {
      const auto got = client.get(key);
      check(got.has_value(), got ? "" : got.error().message());
    }
    out.push_back(std::chrono::steady_clock::now() - start);
  }
}

void run_async(sheaf::Client& client, const Work& work, const Stop& stop, Samples& out) {
  std::mutex mutex;
  std::condition_variable room;
  unsigned in_flight = 0;
  bool failed = false;
  for (std::size_t number = 0; !stop(); ++number) {
    {
      std::unique_lock lock(mutex);
      room.wait(lock, [&] { return in_flight < work.in_flight; });
      ++in_flight;
    }
    const auto start = std::chrono::steady_clock::now();
    client.async().set(key_of(0, number), value).then([&, start](auto done) {
      const std::scoped_lock lock(mutex);
      out.push_back(std::chrono::steady_clock::now() - start);
      failed = failed || !done;
      --in_flight;
      room.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  room.wait(lock, [&] { return in_flight == 0; });
  check(!failed, "a set failed");
}

Round run_round(const Endpoint& endpoint, const Work& work, std::chrono::milliseconds length) {
  return bench::measure(work.callers, length, [&](unsigned thread, const Stop& stop, Samples& out) {
    if (work.in_flight > 1) return run_async(*endpoint.client, work, stop, out);
    run_blocking(*endpoint.client, work, thread, stop, out);
  });
}

void run(const Work& work, const std::vector<Endpoint>& endpoints, int rounds,
         std::chrono::milliseconds length) {
  std::vector<std::vector<Round>> results(endpoints.size());
  for (const Endpoint& endpoint : endpoints) run_round(endpoint, work, length / 4);
  bench::RoundOrder order(endpoints.size());
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t i : order.next())
      results[i].push_back(run_round(endpoints[i], work, length));
  }
  std::printf("\n%s\n%-16s %10s %9s %9s %9s\n", work.title, "", "trips/s", "p50 us", "p99 us",
              "x first");
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    std::array<std::vector<double>, 4> columns;
    for (std::size_t round = 0; round < results[i].size(); ++round) {
      const Round& each = results[i][round];
      columns[0].push_back(each.per_second);
      columns[1].push_back(each.p50_us);
      columns[2].push_back(each.p99_us);
      columns[3].push_back(each.per_second / results[0][round].per_second);
    }
    const auto [least, most] = std::ranges::minmax(columns[3]);
    std::printf("%-16s %10.0f %9.1f %9.1f %9.3f (%.3f..%.3f)\n", endpoints[i].name.c_str(),
                bench::median(columns[0]), bench::median(columns[1]), bench::median(columns[2]),
                bench::median(columns[3]), least, most);
  }
}

Endpoint open_endpoint(const std::string& text) {
  const std::size_t equals = text.find('=');
  check(equals != text.npos, text + " is not of the form NAME=URI");
  auto client = sheaf::Client::open(text.substr(equals + 1));
  check(client.has_value(), client ? "" : client.error().message());
  Endpoint endpoint{text.substr(0, equals), std::make_shared<sheaf::Client>(std::move(*client))};
  for (std::size_t i = 0; i < key_count; ++i) endpoint.client->set(key_of(0, i), value).value();
  return endpoint;
}

int run_all(int argc, char** argv) {
  std::vector<Endpoint> endpoints;
  int rounds = 7;
  int length = 500;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--rounds" && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else if (argument == "--milliseconds" && i + 1 < argc) {
      length = std::max(50, std::atoi(argv[++i]));
    } else {
      endpoints.push_back(open_endpoint(argument));
    }
  }
  check(!endpoints.empty(), "usage: endpoint_compare NAME=URI... [--rounds N] [--milliseconds N]");
  for (const Work& work : works) run(work, endpoints, rounds, std::chrono::milliseconds(length));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_all(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "endpoint_compare: %s\n", error.what());
    return 3;
  }
}
