#pragma once

// The options of a cluster: one table for URIs, JSON and docs/configuration.md.
//
// Thread rule: constant data and plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sheaf/cluster_config.h>

#include "protocol/endpoint_kinds.h"

namespace sheaf::cluster {

enum class OptionType : std::uint8_t {
  boolean,
  integer,
  power_of_two,
  size,      // bytes: 4096, "64KiB"
  duration,  // "250ms"; a bare integer has no unit and is refused
  choice,    // one of `choices`
  name,      // 1 .. 64 of [A-Za-z0-9_.-]
  path,      // of a file; in a URI %XX represents any byte
  host,      // a name or an address, IPv6 without brackets
  pairs      // of addresses: protocol/address_map.h
};

// A value of the right type and within its range.
struct OptionValue {
  std::uint64_t number = 0;  // boolean 0 or 1, integer, bytes, milliseconds, index of a choice
  std::string_view text;     // as given

  friend bool operator==(const OptionValue&, const OptionValue&) = default;
};

// How an option is stored and read back.
struct OptionAccess {
  void (*set)(ClusterConfig&, const OptionValue&);  // null for engine options
  OptionValue (*get)(const ClusterConfig&);         // null for engine options
};

struct Option {
  std::string_view name;
  OptionType type;
  protocol::OptionGroup group;  // the kinds of endpoint that have it
  std::uint64_t low;            // of the number; engines have their own limits
  std::uint64_t high;
  std::string_view choices;   // "a|b"
  std::string_view fallback;  // the default, as a URI would spell it; empty = none
  OptionAccess access;
  std::string_view help;
  std::string_view hint = {};  // ends the error text when a value is refused

  // True if its value is passed to the engine unchanged.
  constexpr bool judged_by_engine() const noexcept { return access.set == nullptr; }
};

// Every option, in the order of the documentation.
std::span<const Option> option_table() noexcept;
// Null if no option has this name.
const Option* find_option(std::string_view name) noexcept;
// These follow a sentence about an unknown name: ". Did you mean NAME?" if a known one is close to
// it; else nothing.
std::string guess(std::string_view name, std::span<const std::string_view> known);
std::string guess_option(std::string_view name);
// True if it differs from its default. Engine options are not compared.
bool is_given(const ClusterConfig& config, const Option& option);
// Why other schemes lack the options of this group: "for memcached:// only".
std::string only_for(protocol::OptionGroup group);
// What a value must be: "an integer from 1 to 64".
std::string allowed(const Option& option);

// How a value was written. JSON distinguishes text, numbers and booleans; a URI does not.
enum class Written : std::uint8_t { uri, json_text, json_number, json_boolean };

// Checks a value and stores it. The error is a sentence that lacks its subject, the option.
std::expected<void, std::string> set_option(ClusterConfig& config, const Option& option,
                                            std::string_view value, Written written);

// What is wrong with an option's present value: a sentence without its subject.
std::optional<std::string> check_option(const ClusterConfig& config, const Option& option);

// 1 .. 64 characters of [A-Za-z0-9_.-].
bool is_name(std::string_view text) noexcept;
inline constexpr std::string_view name_rule =
    "1 to 64 characters of A-Z, a-z, 0-9, \"_\", \".\" and \"-\"";

}  // namespace sheaf::cluster
