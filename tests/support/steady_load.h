#pragma once

// SteadyLoad: threads that call a client without a pause until stop(), and record failures.
//
// Thread rule: one thread makes and ends it.

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/client.h>

namespace sheaf::test {

class SteadyLoad {
 public:
  SteadyLoad(Client& client, unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back(
          [this, &client, key = "load" + std::to_string(i)] { run(client, key); });
    }
  }
  ~SteadyLoad() { stop(); }
  SteadyLoad(const SteadyLoad&) = delete;
  SteadyLoad& operator=(const SteadyLoad&) = delete;

  // Returns the first few failures.
  std::vector<std::string> stop() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    const std::lock_guard lock(mutex_);
    return failures_;
  }
  std::uint64_t calls() const { return calls_; }

 private:
  void run(Client& client, const std::string& key) {
    for (std::uint64_t n = 0; !over_; ++n) {
      const std::string value = std::to_string(n);
      const auto set = client.set(key, value);
      if (!set) note("set: " + set.error().message());
      const auto got = client.get(key);
      if (!got) note("get: " + got.error().message());
      if (set && got && (!*got || (*got)->data != value)) note("another value came back");
      calls_ += 2;
    }
  }
  void note(std::string failure) {
    const std::lock_guard lock(mutex_);
    if (failures_.size() < 10) failures_.push_back(std::move(failure));
  }

  std::atomic<bool> over_ = false;
  std::atomic<std::uint64_t> calls_ = 0;
  std::mutex mutex_;
  std::vector<std::string> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace sheaf::test
