#include "cli/system/exit_code.h"

namespace sheaf::cli {

ExitCode exit_code(const Error& error) noexcept {
  switch (error.outcome) {
    case Outcome::invalid:
    case Outcome::unsupported:
      return ExitCode::usage;
    case Outcome::unknown:
      return ExitCode::unknown;
    case Outcome::refused:
    case Outcome::not_sent:
    case Outcome::overloaded:
    case Outcome::shutdown:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

std::string sentence_of(const Error& error) {
  // An invalid request needs only the text: what is wrong, and why.
  const bool plain = error.outcome == Outcome::invalid && error.node.empty() && !error.text.empty();
  return plain ? error.text : error.message();
}

void Tally::add_failure(const Error& error) noexcept {
  switch (cli::exit_code(error)) {
    case ExitCode::usage:
      ++misused_;
      break;
    case ExitCode::unknown:
      ++unknown_;
      break;
    default:
      ++failed_;
  }
}

ExitCode Tally::exit_code() const noexcept {
  if (failures() == 0) return ExitCode::done;
  if (unknown_ > 0) return ExitCode::unknown;
  return answered_ == 0 && failed_ == 0 ? ExitCode::usage : ExitCode::failed;
}

}  // namespace sheaf::cli
