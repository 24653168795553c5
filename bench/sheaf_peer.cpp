#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>

#include <sheaf/async.h>
#include <sheaf/client.h>

#include "bench/measure.h"

namespace bench {
namespace {

constexpr std::string_view key = "bench/key";

// At most 100 asynchronous gets in flight.
class Window {
 public:
  void enter() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return in_flight_ < 100; });
    ++in_flight_;
  }
  void leave(std::chrono::nanoseconds took, bool ok, Samples& out) {
    const std::scoped_lock lock(mutex_);
    --in_flight_;
    failed_ = failed_ || !ok;
    out.push_back(took);
    room_.notify_one();
  }
  void drain() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return in_flight_ == 0; });
    if (failed_) throw std::runtime_error("sheaf: a get failed");
  }

 private:
  std::mutex mutex_;
  std::condition_variable room_;
  unsigned in_flight_ = 0;
  bool failed_ = false;
};

void run_blocking(sheaf::Client& client, const std::function<bool()>& stop, Samples& out) {
  while (!stop()) {
    const auto start = std::chrono::steady_clock::now();
    const auto got = client.get(key);
    if (!got || !*got)
      throw std::runtime_error("sheaf: " + (got ? "no value" : got.error().message()));
    out.push_back(std::chrono::steady_clock::now() - start);
  }
}

void run_async(sheaf::Client& client, const std::function<bool()>& stop, Samples& out) {
  Window window;
  while (!stop()) {
    window.enter();
    const auto start = std::chrono::steady_clock::now();
    client.async().get(key).then([&, start](sheaf::Result<sheaf::GetResult> got) {
      window.leave(std::chrono::steady_clock::now() - start, got.has_value(), out);
    });
  }
  window.drain();
}

}  // namespace

Contestant sheaf_peer(const Target& target, Load load, bool spin) {
  auto config =
      sheaf::ClusterConfig::parse_uri("mqtt://" + target.host + ":" + std::to_string(target.port) +
                                      (spin ? "?spin=true" : "?spin=false"));
  if (!config) throw std::runtime_error(config.error().message());
  auto client = sheaf::Client::open(*config);
  if (!client) throw std::runtime_error(client.error().message());
  auto shared = std::make_shared<sheaf::Client>(std::move(*client));
  const auto stored = shared->set(key, std::string(100, 'v'));
  if (!stored) throw std::runtime_error(stored.error().message());
  const unsigned threads = load == Load::eight ? 8 : 1;
  return {spin ? "sheaf, spinning" : "sheaf", [=](std::chrono::milliseconds length) {
            return measure(threads, length, [&](unsigned, const auto& stop, Samples& out) {
              if (load == Load::hundred) {
                run_async(*shared, stop, out);
              } else {
                run_blocking(*shared, stop, out);
              }
            });
          }};
}

}  // namespace bench
