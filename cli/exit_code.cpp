#include "cli/exit_code.h"

namespace sheaf::cli {

ExitCode exit_code(const Error& error) noexcept {
  switch (error.outcome) {
    case Outcome::invalid:
    case Outcome::unsupported:
      return ExitCode::usage;
    case Outcome::refused:
    case Outcome::not_sent:
    case Outcome::unknown:
    case Outcome::overloaded:
    case Outcome::shutdown:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

void Tally::add_failure(const Error& error) noexcept {
  ++(cli::exit_code(error) == ExitCode::usage ? misused_ : failed_);
}

ExitCode Tally::exit_code() const noexcept {
  if (failures() == 0) return ExitCode::done;
  return answered_ == 0 && failed_ == 0 ? ExitCode::usage : ExitCode::failed;
}

}  // namespace sheaf::cli
