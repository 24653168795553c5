#pragma once

// Carrier: does the same for each of many keys, on several threads.
//
// Thread rule: one thread; `act` and `on_stale` run on others.

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include <sheaf/result.h>

#include "cli/migrate/key_spool.h"
#include "cli/show/migration_counts.h"

namespace sheaf::cli {

class Carrier {
 public:
  using Act = std::function<Result<KeyEnd>(const std::string& key)>;
  using OnKey = std::function<void(const std::string& key)>;

  explicit Carrier(unsigned callers) : callers_(callers) {}

  // Tries each failed key again, up to three rounds in all, but not a refused one. After an
  // interruption the remaining keys count as failed. `on_stale` gets each KeyEnd::stale, one at a
  // time.
  PassCounts run(KeySpool& keys, const Act& act, const OnKey& on_stale);

 private:
  void round(KeySpool& keys, KeySpool& again, const Act& act, const OnKey& on_stale,
             PassCounts& sum);

  const unsigned callers_;
};

}  // namespace sheaf::cli
