// Pure: no socket, clock, entropy, thread or callback.

#include "extras/migration/write_progress.h"

#include "base/local_error.h"

namespace sheaf::migration {

void WriteProgress::on_deadline() {
  on_error(local_error(Outcome::not_sent, Reason::timed_out,
                       "the deadline came before both fleets had acknowledged it"));
}

// A failed step leaves the write half done if another step was carried out.
void WriteProgress::on_error(const Error& error) {
  const bool may_have_acted = error.outcome == Outcome::unknown;
  begun_ = begun_ || may_have_acted;
  if (error_) return;
  error_ = error;
  if (begun_ && !may_have_acted) {
    error_->outcome = Outcome::unknown;
    error_->text = "the write may be half done: " + error.text;
  }
}

}  // namespace sheaf::migration
