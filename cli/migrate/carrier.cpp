#include "cli/migrate/carrier.h"

#include <poll.h>

#include <thread>
#include <utility>
#include <vector>

#include "cli/system/exit_code.h"
#include "cli/system/progress.h"

namespace sheaf::cli {
namespace {

constexpr int rounds = 3;
constexpr int redraw_ms = 100;  // how often the progress line is updated
constexpr int between_rounds_ms = 1'000;

// True if the request was refused or invalid: another try would end the same way.
bool is_final(const Error& error) noexcept {
  return error.outcome == Outcome::refused || error.outcome == Outcome::invalid;
}

}  // namespace

PassCounts Carrier::run(KeySpool& keys, const Act& act, const OnKey& on_stale) {
  const auto start = std::chrono::steady_clock::now();
  PassCounts sum;
  KeySpool first_again;
  KeySpool second_again;
  KeySpool* todo = &keys;
  KeySpool* again = &first_again;
  for (int number = 1;; ++number) {
    todo->rewind();
    round(*todo, *again, act, on_stale, sum);
    if (again->size() == 0 || number == rounds || Interrupts::signal() != 0) break;
    ::poll(nullptr, 0, between_rounds_ms);
    todo = again;
    again = again == &first_again ? &second_again : &first_again;
    again->clear();
  }
  sum.failed = keys.size() - (sum.keys() - sum.failed);
  sum.elapsed = std::chrono::steady_clock::now() - start;
  return sum;
}

void Carrier::round(KeySpool& keys, KeySpool& again, const Act& act, const OnKey& on_stale,
                    PassCounts& sum) {
  std::mutex mutex;
  std::atomic<std::uint64_t> done = 0;
  std::atomic<unsigned> working = callers_;
  const auto work = [&] {
    while (Interrupts::signal() == 0) {
      const auto key = keys.next();
      if (!key) break;
      const Result<KeyEnd> end = act(*key);
      ++done;
      const std::lock_guard lock(mutex);
      if (end) {
        ++sum.ends[static_cast<std::size_t>(*end)];
        if (*end == KeyEnd::stale) on_stale(*key);
        continue;
      }
      if (sum.first_error.empty()) sum.first_error = sentence_of(end.error());
      if (is_final(end.error())) {
        if (sum.refused++ == 0) sum.first_refusal = sentence_of(end.error());
      } else {
        again.add(*key);
      }
    }
    --working;
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < callers_; ++i) threads.emplace_back(work);
  Progress progress("keys", 0);
  while (working > 0) {
    ::poll(nullptr, 0, redraw_ms);
    progress.show(done, 0);
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace sheaf::cli
