#include "bench/measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

namespace bench {
namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// The child processes that are no servers.
std::set<std::string>& excluded() {
  static std::set<std::string> children;
  return children;
}

// The processor time of the servers; 0 if the kernel does not say.
double servers_seconds() {
  double total = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (std::string child; children >> child;) {
      if (excluded().contains(child)) continue;
      std::error_code gone;  // leaves the list empty
      for (const auto& task :
           std::filesystem::directory_iterator("/proc/" + child + "/task", gone)) {
        double nanoseconds = 0;
        std::ifstream(task.path() / "schedstat") >> nanoseconds;
        total += nanoseconds * 1e-9;
      }
    }
  }
  return total;
}

rusage usage() {
  rusage out{};
  getrusage(RUSAGE_SELF, &out);
  return out;
}

double microseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

}  // namespace

Round measure(unsigned threads, std::chrono::milliseconds length,
              const std::function<void(unsigned, const std::function<bool()>&, Samples&)>& body) {
  std::vector<Samples> samples(threads);
  for (Samples& each : samples) each.reserve(1 << 18);
  std::exception_ptr failure;
  std::mutex mutex;
  const double servers_before = servers_seconds();
  const rusage usage_before = usage();
  const double cpu_before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  const auto end = start + length;
  const std::function<bool()> stop = [end] { return std::chrono::steady_clock::now() >= end; };
  const auto run = [&](unsigned thread) {
    try {
      body(thread, stop, samples[thread]);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(run, i);
  run(0);
  for (auto& thread : others) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double cpu = cpu_seconds() - cpu_before;
  const rusage usage_after = usage();
  const double servers = servers_seconds() - servers_before;
  if (failure) std::rethrow_exception(failure);

  Samples all;
  for (const Samples& each : samples) all.insert(all.end(), each.begin(), each.end());
  std::sort(all.begin(), all.end());
  Round round;
  if (all.empty()) return round;
  const double count = static_cast<double>(all.size());
  round.operations = count;
  round.per_second = count / took.count();
  round.p50_us = microseconds(all[all.size() / 2]);
  round.p99_us = microseconds(all[all.size() * 99 / 100]);
  round.p999_us = microseconds(all[all.size() * 999 / 1000]);
  round.cpu_us = cpu * 1e6 / count;
  round.servers_us = servers * 1e6 / count;
  round.waits = static_cast<double>(usage_after.ru_nvcsw - usage_before.ru_nvcsw) / count;
  round.losses = static_cast<double>(usage_after.ru_nivcsw - usage_before.ru_nivcsw) / count;
  return round;
}

void exclude_from_servers(pid_t child) { excluded().insert(std::to_string(child)); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace bench
