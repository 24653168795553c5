#pragma once

// OptionReader: options with a number or a time, checked, into their places.
//
// Thread rule: one thread.

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>

#include "base/text.h"
#include "cli/line/parser.h"

namespace sheaf::cli {

// Reads options into their places; the first that is wrong ends it.
class OptionReader {
 public:
  explicit OptionReader(const ParsedLine& line) : line_(line) {}

  template <class Number>
  void number(const char* option, std::uint64_t least, std::uint64_t most, Number& out) {
    if (!line_.has(option) || !wrong_.empty()) return;
    const auto given = parse_decimal(line_.value(option));
    if (given && *given >= least && *given <= most) {
      out = static_cast<Number>(*given);
    } else {
      wrong_ = std::string(option) + " must be a number from " + std::to_string(least) + " to " +
               std::to_string(most) + ".";
    }
  }
  void time(const char* option, std::chrono::milliseconds least, std::chrono::milliseconds most,
            std::chrono::milliseconds& out) {
    if (!line_.has(option) || !wrong_.empty()) return;
    const auto given = parse_duration(line_.value(option));
    if (given && *given >= least && *given <= most) {
      out = *given;
    } else {
      wrong_ = std::string(option) + " must be " + format_duration(least) + " to " +
               format_duration(most) + ", an integer and ms, s, m or h.";
    }
  }
  template <class Arguments>
  std::expected<Arguments, std::string> take(const Arguments& arguments) const {
    if (!wrong_.empty()) return std::unexpected(wrong_);
    return arguments;
  }

 private:
  const ParsedLine& line_;
  std::string wrong_;
};

}  // namespace sheaf::cli
