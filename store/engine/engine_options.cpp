// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <limits>

#include "base/text.h"
#include "store/engine/engine.h"

namespace sheaf::store {
namespace {

using std::chrono::milliseconds;
using Set = std::expected<void, std::string>;

constexpr milliseconds longest_retention = std::chrono::hours(24 * 365);

struct Unit {
  std::string_view suffix;
  unsigned shift;
};
constexpr std::array size_units{Unit{"KiB", 10}, Unit{"MiB", 20}, Unit{"GiB", 30}};

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  unsigned shift = 0;
  for (const Unit& unit : size_units) {
    if (!text.ends_with(unit.suffix)) continue;
    text.remove_suffix(unit.suffix.size());
    shift = unit.shift;
    break;
  }
  const auto number = parse_decimal(text);
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return *number << shift;
}

std::unexpected<std::string> refuse(std::string_view name, std::string_view allowed,
                                    std::string_view value) {
  return std::unexpected(std::string(name) + " must be " + std::string(allowed) + ", not \"" +
                         printable(value) + "\"");
}

Set set_number(std::uint64_t& to, std::uint64_t least, std::string_view name,
               std::string_view value) {
  const auto number = parse_decimal(value);
  if (!number || *number < least) {
    return refuse(name, "a whole number, " + std::to_string(least) + " or more", value);
  }
  to = *number;
  return {};
}

Set set_size(std::uint64_t& to, std::uint64_t least, std::string_view name,
             std::string_view value) {
  const auto size = parse_size(value);
  if (!size || *size < least) {
    return refuse(name,
                  "a number of bytes, " + std::to_string(least) +
                      " or more, which may end in KiB, MiB or GiB",
                  value);
  }
  to = *size;
  return {};
}

Set set_retention(milliseconds& to, std::string_view name, std::string_view value) {
  const auto duration = parse_duration(value);
  if (!duration || *duration > longest_retention) {
    return refuse(name, "a duration from 0s to 8760h, such as 90s", value);
  }
  to = *duration;
  return {};
}

constexpr std::size_t longest_path = 4095;  // bytes; Linux, PATH_MAX with its NUL

Set set_path(std::string& to, std::string_view name, std::string_view value) {
  const bool whole = !value.empty() && value.size() <= longest_path && value.back() != '/' &&
                     value.find('\0') == std::string_view::npos;
  if (!whole) return refuse(name, "the path of a file, of up to 4095 bytes", value);
  to = value;
  return {};
}

Set set_durability(milliseconds& to, std::string_view name, std::string_view value) {
  constexpr milliseconds longest = std::chrono::seconds(10);
  const auto interval = parse_duration(value);
  if (value != "acknowledged" && (!interval || interval->count() < 1 || *interval > longest)) {
    return refuse(name, "acknowledged, or a duration from 1ms to 10s, such as 100ms", value);
  }
  to = interval.value_or(milliseconds(0));
  return {};
}

template <class Choice>
Set set_choice(Choice& to, std::array<std::pair<std::string_view, Choice>, 2> choices,
               std::string_view name, std::string_view value) {
  for (const auto& [word, choice] : choices) {
    if (value != word) continue;
    to = choice;
    return {};
  }
  return refuse(name, std::string(choices[0].first) + " or " + std::string(choices[1].first),
                value);
}

}  // namespace

Set EngineOptions::set(std::string_view name, std::string_view value) {
  if (name == "spelling") {
    return set_choice<Spelling>(spelling, {{{"sdk", Spelling::sdk}, {"page", Spelling::page}}},
                                name, value);
  }
  if (name == "notify") {
    return set_choice<NotifyMode>(
        notify, {{{"push", NotifyMode::push}, {"subscribed", NotifyMode::subscribed}}}, name,
        value);
  }
  if (name == "reply_topics") {
    return set_choice<ReplyTopics>(
        reply_topics, {{{"any", ReplyTopics::any}, {"own", ReplyTopics::own}}}, name, value);
  }
  if (name == "max_keys") return set_number(max_keys, 1, name, value);
  if (name == "max_bytes") return set_size(max_bytes, 1, name, value);
  if (name == "max_watches") return set_number(max_watches, 0, name, value);
  if (name == "max_duplicates") return set_number(max_duplicates, 0, name, value);
  if (name == "fence_retention") return set_retention(fence_retention, name, value);
  if (name == "data") return set_path(data, name, value);
  if (name == "durability") return set_durability(durability, name, value);
  if (name == "persist") {
    return set_choice<Persist>(persist, {{{"all", Persist::all}, {"asked", Persist::asked}}}, name,
                               value);
  }
  return std::unexpected(
      "the store has no option \"" + printable(name) +
      "\"; it has spelling, notify, reply_topics, max_keys, max_bytes, "
      "max_watches, max_duplicates, fence_retention, data, durability and persist");
}

}  // namespace sheaf::store
