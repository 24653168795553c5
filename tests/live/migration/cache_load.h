#pragma once

// Programs that use a cache while it moves: threads with two MigratingCaches of the same file. One
// thread writes each key; all read all keys. A value contains its number, so a read knows if it is
// older than the last write that was acknowledged before the read began.
//
// Thread rule: one thread.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/migration.h>

#include "base/random.h"

namespace sheaf::test {

class CacheLoad {
 public:
  struct Sum {
    std::uint64_t gets = 0;
    std::uint64_t hits = 0;
    double rate() const { return static_cast<double>(hits) / static_cast<double>(gets); }
  };

  CacheLoad(const std::string& from, const std::string& to, const std::string& file,
            std::size_t keys, std::chrono::milliseconds settle);
  ~CacheLoad() { stop(); }
  CacheLoad(const CacheLoad&) = delete;
  CacheLoad& operator=(const CacheLoad&) = delete;

  // Sets all keys. Called before the first start().
  void fill();
  void start();
  void stop();
  // Waits until so many more calls have ended.
  void wait_for(std::uint64_t calls) const;

  std::map<MigrationStage, Sum> sums() const;
  std::uint64_t stale() const { return stale_; }      // reads of an older value
  std::uint64_t foreign() const { return foreign_; }  // reads of a value never written to the key
  std::uint64_t failed() const { return failed_; }
  std::uint64_t calls() const { return calls_; }
  std::string first_error() const { return first_error_; }

 private:
  static constexpr std::size_t threads = 2;
  static constexpr std::size_t batch = 20;

  struct Key {
    std::atomic<std::uint32_t> begun = 0;         // the number of the last write
    std::atomic<std::uint32_t> acknowledged = 0;  // the last acknowledged one
    bool removed = false;                         // by its own thread
  };

  std::string name(std::size_t key) const { return "cache/" + std::to_string(key); }
  std::string value(std::size_t key, std::uint32_t number) const {
    return name(key) + "#" + std::to_string(number);
  }
  void run(std::size_t thread);
  void write(MigratingCache& cache, std::size_t key);
  void read(MigratingCache& cache, std::size_t key);
  void read_many(MigratingCache& cache, Random& random);
  void judge(std::size_t key, std::uint32_t since, const Result<GetResult>& got);
  void fail(const Error& error);

  std::vector<Key> keys_;
  std::vector<MigratingCache> caches_;
  std::vector<std::thread> threads_;
  std::atomic<bool> over_ = true;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::uint64_t> stale_ = 0;
  std::atomic<std::uint64_t> foreign_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<bool> told_ = false;
  std::string first_error_;
};

}  // namespace sheaf::test
