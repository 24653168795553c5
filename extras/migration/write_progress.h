#pragma once

// How far the write of one key has progressed through the steps of its stage, and how it ends.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <utility>

#include <sheaf/options.h>
#include <sheaf/result.h>

#include "extras/migration/stage_rules.h"

namespace sheaf::migration {

class WriteProgress {
 public:
  // True if the next step must be taken. After an error only removals are, to leave less stale
  // data.
  bool takes(const WriteStep& step) const noexcept { return !error_ || (begun_ && !step.stores); }

  void on_stored(const Result<SetResult>& result) {
    if (!result) return on_error(result.error());
    begun_ = true;
  }
  void on_removed(const Result<RemoveResult>& result) {
    if (!result) return on_error(result.error());
    begun_ = true;
    removed_ = removed_ || *result == RemoveResult::removed;
  }
  // No time is left for the next step.
  void on_deadline();

  bool unknown() const noexcept { return error_ && error_->outcome == Outcome::unknown; }
  bool removed() const noexcept { return removed_; }
  // Null: every step was acknowledged.
  const Error* error() const noexcept { return error_ ? &*error_ : nullptr; }

 private:
  void on_error(const Error& error);

  bool begun_ = false;  // a step has, or may have, changed something
  bool removed_ = false;
  std::optional<Error> error_;
};

}  // namespace sheaf::migration
