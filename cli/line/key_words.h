#pragma once

// The words of commands for keys. An error is one sentence.
//
// Thread rule: pure functions and plain values.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/options.h>
#include <sheaf/value.h>

#include "cli/line/parser.h"

namespace sheaf::cli {

// KEY
struct KeyWords {
  std::string key;
};
std::expected<KeyWords, std::string> read_key_words(const ParsedLine& line);

// KEY VALUE|-
struct ValueWords {
  std::string key;
  std::string value;
  bool from_stdin = false;  // the value is all of standard input
};
std::expected<ValueWords, std::string> read_value_words(const ParsedLine& line);

// KEY...|-
struct KeysWords {
  std::vector<std::string> keys;  // at least one; empty if `from_stdin`
  bool from_stdin = false;        // one key on each line of standard input
  bool raw = false;               // --raw
};
std::expected<KeysWords, std::string> read_keys_words(const ParsedLine& line);

// keys
struct ListingWords {
  std::string pattern = "*";
  bool ttl = false;                         // --ttl
  bool size = false;                        // --size
  std::uint64_t limit = ~std::uint64_t{0};  // --limit
  bool raw = false;                         // --raw
};
std::expected<ListingWords, std::string> read_listing_words(const ParsedLine& line);

struct GetWords {
  std::string key;
  FencingToken fence;        // --fence
  std::optional<Ttl> ttl;    // --ttl, with --fence
  bool persist = false;      // --persist, with --fence
  std::optional<Ttl> touch;  // --touch
  bool raw = false;          // --raw
};
std::expected<GetWords, std::string> read_get_words(const ParsedLine& line);

// set and getset.
struct SetWords : ValueWords {
  std::optional<Ttl> ttl;                         // --ttl
  SetCondition condition = SetCondition::always;  // --if-...
  Version version;                                // --if-version
  std::uint32_t flags = 0;                        // --flags
  bool persist = false;                           // --persist
  FencingToken fence;                             // --fence
  bool raw = false;                               // --raw
};
std::expected<SetWords, std::string> read_set_words(const ParsedLine& line);

struct DelWords : KeysWords {
  std::optional<std::string> if_value;  // --if-value
  std::optional<Version> if_version;    // --if-version
  FencingToken fence;                   // --fence
};
std::expected<DelWords, std::string> read_del_words(const ParsedLine& line);

struct MsetWords {
  std::optional<Ttl> ttl;  // --ttl
  bool persist = false;    // --persist
};
std::expected<MsetWords, std::string> read_mset_words(const ParsedLine& line);

struct TouchWords {
  std::string key;
  std::optional<Ttl> ttl;  // --ttl; always set
};
std::expected<TouchWords, std::string> read_touch_words(const ParsedLine& line);

struct IncrWords {
  std::string key;
  bool down = false;                     // DELTA was negative
  std::uint64_t delta = 1;               // DELTA without its sign
  std::optional<std::uint64_t> initial;  // --initial
  std::optional<Ttl> ttl;                // --ttl, with --initial
};
std::expected<IncrWords, std::string> read_incr_words(const ParsedLine& line);

}  // namespace sheaf::cli
