#include "tests/live/migration/cache_load.h"

#include <stdexcept>
#include <utility>

#include "base/text.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

Client open(const std::string& uri) {
  auto client = Client::open(uri);
  if (!client) throw std::runtime_error(client.error().message());
  return std::move(*client);
}

}  // namespace

CacheLoad::CacheLoad(const std::string& from, const std::string& to, const std::string& file,
                     std::size_t keys, std::chrono::milliseconds settle)
    : keys_(keys) {
  for (int i = 0; i < 2; ++i) {
    auto cache = MigratingCache::open(open(from), open(to), file, {.settle = settle});
    if (!cache) throw std::runtime_error(cache.error().message());
    caches_.push_back(std::move(*cache));
  }
}

void CacheLoad::fill() {
  constexpr std::size_t part = 1'000;
  for (std::size_t first = 0; first < keys_.size(); first += part) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (std::size_t key = first; key < std::min(first + part, keys_.size()); ++key) {
      names.push_back(name(key));
      values.push_back(value(key, 1));
      keys_[key].begun = keys_[key].acknowledged = 1;
    }
    std::vector<SetItem> items;
    for (std::size_t i = 0; i < names.size(); ++i) items.push_back({names[i], values[i]});
    for (const auto& set : caches_.front().set_many(items)) set.result.value();
  }
}

void CacheLoad::start() {
  over_ = false;
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { run(i); });
}

void CacheLoad::stop() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void CacheLoad::wait_for(std::uint64_t calls) const {
  const std::uint64_t wanted = calls_ + calls;
  while (calls_ < wanted) std::this_thread::yield();
}

void CacheLoad::run(std::size_t thread) {
  MigratingCache& cache = caches_[thread % caches_.size()];
  Random random(thread + 1);
  while (!over_) {
    const std::size_t key = random.below(keys_.size());
    const std::uint64_t what = random.below(20);
    if (what == 0) {
      write(cache,
            key - key % threads + thread < keys_.size() ? key - key % threads + thread : thread);
    } else if (what == 1) {
      read_many(cache, random);
    } else {
      read(cache, key);
    }
    ++calls_;
  }
}

// One of four writes is a removal. The next write sets the key again.
void CacheLoad::write(MigratingCache& cache, std::size_t key) {
  Key& one = keys_[key];
  const std::uint32_t number = ++one.begun;
  const bool removes = !one.removed && number % 4 == 0;
  const bool done = removes ? [&] {
    const auto removed = cache.remove(name(key));
    if (!removed) fail(removed.error());
    return removed.has_value();
  }()
                            : [&] {
                                const auto set = cache.set(name(key), value(key, number));
                                if (!set) fail(set.error());
                                return set.has_value();
                              }();
  one.removed = removes;
  if (done) one.acknowledged = number;
  if (removes) write(cache, key);
}

void CacheLoad::read(MigratingCache& cache, std::size_t key) {
  const std::uint32_t since = keys_[key].acknowledged;
  judge(key, since, cache.get(name(key)));
}

void CacheLoad::read_many(MigratingCache& cache, Random& random) {
  std::vector<std::size_t> numbers;
  std::vector<std::uint32_t> since;
  std::vector<std::string> names;
  const std::size_t first = random.below(keys_.size() - batch);
  for (std::size_t key = first; key < first + batch; ++key) {
    numbers.push_back(key);
    since.push_back(keys_[key].acknowledged);
    names.push_back(name(key));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto all = cache.get_many(views);
  for (std::size_t i = 0; i < all.size(); ++i) judge(numbers[i], since[i], all[i].result);
}

void CacheLoad::judge(std::size_t key, std::uint32_t since, const Result<GetResult>& got) {
  if (!got) return fail(got.error());
  if (!*got) return;
  const std::string prefix = name(key) + "#";
  const std::string& data = (*got)->data;
  const auto number = data.starts_with(prefix)
                          ? parse_decimal(std::string_view(data).substr(prefix.size()))
                          : std::nullopt;
  if (!number || *number > keys_[key].begun) {
    ++foreign_;
  } else if (*number < since) {
    ++stale_;
  }
}

void CacheLoad::fail(const Error& error) {
  ++failed_;
  if (!told_.exchange(true)) first_error_ = error.message();
}

std::map<MigrationStage, CacheLoad::Sum> CacheLoad::sums() const {
  std::map<MigrationStage, Sum> all;
  for (const MigratingCache& cache : caches_) {
    for (const MigrationCounts& counts : cache.counts()) {
      all[counts.stage].gets += counts.gets;
      all[counts.stage].hits += counts.hits;
    }
  }
  return all;
}

}  // namespace sheaf::test
