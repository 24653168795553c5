#include "cli/line/key_words.h"

#include <utility>

#include "base/text.h"
#include "cli/line/option_reader.h"

namespace sheaf::cli {

namespace {

constexpr std::uint64_t most_flags = 0xffff'ffff;

// Reads at most one condition of --if-absent and the like.
void read_condition(const ParsedLine& line, OptionReader& reader, SetWords& words) {
  std::string given;
  for (const auto& [option, condition] :
       {std::pair("--if-absent", SetCondition::if_absent),
        {"--if-absent-or-equal", SetCondition::if_absent_or_equal},
        {"--if-present", SetCondition::if_present},
        {"--if-version", SetCondition::if_version}}) {
    if (!line.has(option)) continue;
    reader.refuse_if(!given.empty(),
                     given + " and " + option + " are both given: give only one condition.");
    given = option;
    words.condition = condition;
  }
}

}  // namespace

std::expected<KeyWords, std::string> read_key_words(const ParsedLine& line) {
  return KeyWords{line.text(0)};
}

std::expected<ValueWords, std::string> read_value_words(const ParsedLine& line) {
  return ValueWords{line.text(0), line.text(1), line.is_stdin(1)};
}

std::expected<KeysWords, std::string> read_keys_words(const ParsedLine& line) {
  KeysWords words;
  words.raw = line.has("--raw");
  if (line.arguments.size() == 1 && line.is_stdin(0)) {
    words.from_stdin = true;
    return words;
  }
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    if (line.is_stdin(i))
      return std::unexpected("- stands for standard input and cannot be one of several keys.");
  }
  words.keys = line.texts();
  return words;
}

std::expected<ListingWords, std::string> read_listing_words(const ParsedLine& line) {
  constexpr std::uint64_t most_listed = 1'000'000'000'000;
  ListingWords words;
  if (!line.arguments.empty()) words.pattern = line.text(0);
  words.ttl = line.has("--ttl");
  words.size = line.has("--size");
  words.raw = line.has("--raw");
  OptionReader reader(line);
  reader.number("--limit", 1, most_listed, words.limit);
  reader.refuse_if(words.pattern.empty(),
                   "PATTERN is empty, which no key is; * stands for all keys.");
  return reader.take(std::move(words));
}

std::expected<GetWords, std::string> read_get_words(const ParsedLine& line) {
  GetWords words{
      .key = line.text(0), .fence = {}, .ttl = {}, .persist = {}, .touch = {}, .raw = {}};
  words.raw = line.has("--raw");
  words.persist = line.has("--persist");
  OptionReader reader(line);
  reader.time_to_live("--ttl", words.ttl);
  reader.time_to_live("--touch", words.touch);
  reader.text("--fence", "a token", words.fence.text);
  reader.refuse_if(
      words.ttl && words.fence.text.empty(),
      "--ttl of get needs --fence: it is the time to live of the value that is written back.");
  reader.refuse_if(words.persist && words.fence.text.empty(),
                   "--persist of get needs --fence: it concerns the value that is written back.");
  reader.refuse_if(words.touch && !words.fence.text.empty(),
                   "--fence and --touch are both given: use --ttl with --fence.");
  return reader.take(std::move(words));
}

std::expected<SetWords, std::string> read_set_words(const ParsedLine& line) {
  SetWords words;
  static_cast<ValueWords&>(words) = *read_value_words(line);
  words.raw = line.has("--raw");
  OptionReader reader(line);
  reader.time_to_live("--ttl", words.ttl);
  read_condition(line, reader, words);
  reader.text("--if-version", "a version", words.version.text);
  reader.number("--flags", 0, most_flags, words.flags);
  words.persist = line.has("--persist");
  reader.text("--fence", "a token", words.fence.text);
  return reader.take(std::move(words));
}

std::expected<DelWords, std::string> read_del_words(const ParsedLine& line) {
  auto keys = read_keys_words(line);
  if (!keys) return std::unexpected(std::move(keys.error()));
  DelWords words;
  static_cast<KeysWords&>(words) = std::move(*keys);
  OptionReader reader(line);
  if (line.has("--if-version"))
    reader.text("--if-version", "a version", words.if_version.emplace().text);
  if (line.has("--if-value")) words.if_value = line.value("--if-value");
  reader.text("--fence", "a token", words.fence.text);
  reader.refuse_if(words.if_value && words.if_version,
                   "--if-value and --if-version are both given: give only one condition.");
  const bool conditional = words.if_value || words.if_version || !words.fence.text.empty();
  reader.refuse_if(conditional && words.keys.size() != 1,
                   "--if-value, --if-version and --fence of del work with one key only.");
  return reader.take(std::move(words));
}

std::expected<MsetWords, std::string> read_mset_words(const ParsedLine& line) {
  MsetWords words;
  OptionReader reader(line);
  reader.refuse_if(line.text(0) != "-", "mset reads standard input: its argument must be -.");
  reader.time_to_live("--ttl", words.ttl);
  words.persist = line.has("--persist");
  return reader.take(words);
}

std::expected<TouchWords, std::string> read_touch_words(const ParsedLine& line) {
  TouchWords words{line.text(0), {}};
  OptionReader reader(line);
  reader.time_to_live("--ttl", words.ttl);
  reader.refuse_if(!words.ttl, "touch needs --ttl DURATION, the new time to live.");
  return reader.take(std::move(words));
}

std::expected<IncrWords, std::string> read_incr_words(const ParsedLine& line) {
  IncrWords words;
  words.key = line.text(0);
  OptionReader reader(line);
  reader.time_to_live("--ttl", words.ttl);
  std::string delta = line.arguments.size() > 1 ? line.text(1) : "1";
  words.down = delta.starts_with('-');
  if (words.down) delta.erase(0, 1);
  const auto size = parse_decimal(delta);
  reader.refuse_if(!size, is_not("DELTA", line.arguments.size() > 1 ? line.text(1) : "") +
                              "an integer between -2^64 and 2^64, both excluded.");
  words.delta = size.value_or(0);
  reader.refuse_if(words.ttl && !line.has("--initial"),
                   "--ttl of incr needs --initial: it is for a key that --initial creates.");
  if (line.has("--initial")) {
    words.initial = parse_decimal(line.value("--initial"));
    reader.refuse_if(!words.initial, is_not("--initial", line.value("--initial")) +
                                         "an integer from 0 to 2^64 - 1.");
  }
  return reader.take(std::move(words));
}

}  // namespace sheaf::cli
