// A cache in one call: an absent key is computed once, however many callers in this and other
// processes ask for it at the same time.
//
// usage: get_or_compute [URI]    embedded://3 if none is given

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/client.h>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  auto client = sheaf::Client::open(argc > 1 ? argv[1] : "embedded://3");
  if (!client) return std::puts(client.error().message().c_str()), 2;
  static_cast<void>(client->remove("report/today"));  // left by an earlier run

  std::atomic<int> computed = 0;
  std::atomic<int> served = 0;
  const auto ask = [&] {
    const auto report = client->get_or_compute("report/today", {.ttl = 10min}, [&] {
      ++computed;
      std::this_thread::sleep_for(100ms);  // the slow source
      return std::string("all lines run");
    });
    if (!report) return std::puts(report.error().why().c_str()), void();
    if (report->data == "all lines run") ++served;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(ask);
  for (std::thread& thread : threads) thread.join();
  std::printf("served %d, computed %d\n", served.load(), computed.load());
  return served == 8 && computed == 1 ? 0 : 1;
}
