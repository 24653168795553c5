#pragma once

// OptionReader: checks the options of a command line and stores their values.
//
// Thread rule: one thread.

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sheaf/options.h>

#include "base/text.h"
#include "cli/line/parser.h"

namespace sheaf::cli {

// The beginning of a sentence about a word that is not allowed: "--ttl is "5", not ".
inline std::string is_not(std::string_view option, std::string_view given) {
  return std::string(option) + " is \"" + printable(given) + "\", not ";
}

// Stores option values, up to the first that is wrong.
class OptionReader {
 public:
  explicit OptionReader(const ParsedLine& line) : line_(line) {}

  // `sentence` describes the error.
  void refuse_if(bool wrong, std::string sentence) {
    if (wrong && wrong_.empty()) wrong_ = std::move(sentence);
  }

  template <class Number>
  void number(const char* option, std::uint64_t least, std::uint64_t most, Number& out) {
    if (!wants(option)) return;
    const auto given = parse_decimal(line_.value(option));
    if (given && *given >= least && *given <= most) {
      out = static_cast<Number>(*given);
    } else {
      wrong_ = is_not(option, line_.value(option)) + "a number from " + std::to_string(least) +
               " to " + std::to_string(most) + ".";
    }
  }
  void time(const char* option, std::chrono::milliseconds least, std::chrono::milliseconds most,
            std::chrono::milliseconds& out) {
    if (!wants(option)) return;
    const auto given = parse_duration(line_.value(option));
    if (given && *given >= least && *given <= most) {
      out = *given;
    } else {
      wrong_ = is_not(option, line_.value(option)) + format_duration(least) + " to " +
               format_duration(most) + ", an integer followed by ms, s, m or h.";
    }
  }
  void time_to_live(const char* option, std::optional<Ttl>& out) {
    if (!wants(option)) return;
    if (const auto given = parse_duration(line_.value(option))) out = Ttl(*given);
    refuse_if(!out || !out->valid(),
              is_not(option, line_.value(option)) +
                  "1ms to 922337203685477ms, an integer followed by ms, s, m or h.");
  }
  // `needs`: for example "a FILE".
  void text(const char* option, std::string_view needs, std::string& out) {
    if (!wants(option)) return;
    out = line_.value(option);
    refuse_if(out.empty(), std::string(option).append(" needs ").append(needs).append("."));
  }

  template <class Words>
  std::expected<Words, std::string> take(Words words) const {
    if (!wrong_.empty()) return std::unexpected(wrong_);
    return words;
  }

 private:
  bool wants(const char* option) const { return line_.has(option) && wrong_.empty(); }

  const ParsedLine& line_;
  std::string wrong_;
};

}  // namespace sheaf::cli
