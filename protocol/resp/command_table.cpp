// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/command_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/nearest_word.h"
#include "base/text.h"
#include "protocol/refusals.h"
#include "protocol/resp/changes/command_rules.h"
#include "protocol/resp/changes/rules.h"
#include "protocol/resp/node_commands.h"
#include "protocol/resp/wire/command_reply.h"
#include "protocol/resp/wire/reply_reader.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::array<std::string_view, 1> ask_for_all{"COMMAND"};

// The table's numbers are places in a command, or are counted from its end.
constexpr std::int64_t largest_place = most_words;

std::string in_upper_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return out;
}

// ---- reading

std::optional<std::int64_t> place(std::optional<Value> value) noexcept {
  const auto number = value ? value->number() : std::nullopt;
  if (!number || *number > largest_place || *number < -largest_place) return std::nullopt;
  return number;
}

std::string_view word(std::optional<Value> value) noexcept {
  return value && value->is_text() ? value->text() : std::string_view();
}

bool has(const Value& list, std::string_view flag) noexcept {
  return std::ranges::any_of(list, [&](const Value& value) { return word(value) == flag; });
}

// A part of a specification: its type, and the fields of that type.
struct Part {
  std::string_view type;
  Value terms;
};

Part part_of(const Value& spec, std::string_view name) noexcept {
  const auto part = spec.find(name);
  if (!part) return {};
  return {word(part->find("type")), part->find("spec").value_or(Value())};
}

void read_begin(const Part& part, KeySpec& spec) {
  if (part.type == "index") {
    const auto index = place(part.terms.find("index"));
    if (!index || *index < 1) return;
    spec.at = *index;
    spec.begin = KeySpec::Begin::index;
  } else if (part.type == "keyword") {
    const auto from = place(part.terms.find("startfrom"));
    const std::string_view keyword = word(part.terms.find("keyword"));
    if (!from || *from == 0 || keyword.empty()) return;
    spec.at = *from;
    spec.keyword = keyword.substr(0, CommandTable::longest_name);
    spec.begin = KeySpec::Begin::keyword;
  }
}

void read_find(const Part& part, KeySpec& spec) {
  const auto step = place(part.terms.find("keystep"));
  if (!step || *step < 1) return;
  spec.step = *step;
  if (part.type == "range") {
    const auto last = place(part.terms.find("lastkey"));
    const auto limit = place(part.terms.find("limit"));
    if (!last || !limit) return;
    spec.last = *last;
    spec.limit = *limit;
    spec.find = KeySpec::Find::range;
  } else if (part.type == "keynum") {
    const auto count_at = place(part.terms.find("keynumidx"));
    const auto first = place(part.terms.find("firstkey"));
    if (!count_at || !first || *count_at < 0 || *first < 0) return;
    spec.count_at = *count_at;
    spec.first_key = *first;
    spec.find = KeySpec::Find::keynum;
  }
}

// Parts that cannot be read are unknown.
KeySpec read_spec(const Value& value) {
  KeySpec spec;
  read_begin(part_of(value, "begin_search"), spec);
  read_find(part_of(value, "find_keys"), spec);
  return spec;
}

// ---- finding

// Takes `count` words, every `step`-th from `first`; none if they are not all there.
void take(CommandWords words, std::int64_t first, std::int64_t count, std::int64_t step,
          std::vector<std::string_view>& keys) {
  const auto size = static_cast<std::int64_t>(words.size());
  if (count < 1 || count > size || first + (count - 1) * step >= size) return;
  for (std::int64_t i = 0; i < count; ++i) {
    keys.push_back(words[static_cast<std::size_t>(first + i * step)]);
  }
}

// Where the keys begin; nothing if there are none.
std::optional<std::int64_t> beginning(const KeySpec& spec, CommandWords words) noexcept {
  const auto size = static_cast<std::int64_t>(words.size());
  if (spec.begin == KeySpec::Begin::index) return spec.at;
  const std::int64_t direction = spec.at < 0 ? -1 : 1;
  const std::int64_t end = spec.at < 0 ? 0 : size;
  for (std::int64_t i = spec.at < 0 ? size + spec.at : spec.at; i * direction < end * direction;
       i += direction) {
    if (equals_ignoring_case(words[static_cast<std::size_t>(i)], spec.keyword)) return i + 1;
  }
  return std::nullopt;
}

// A command with too few words, or with a wrong number of keys, has no keys: its server reports
// what is wrong.
void find_keys(const KeySpec& spec, CommandWords words, std::vector<std::string_view>& keys) {
  const auto begin = beginning(spec, words);
  const auto size = static_cast<std::int64_t>(words.size());
  if (!begin || *begin >= size) return;
  if (spec.find == KeySpec::Find::keynum) {
    const std::int64_t at = *begin + spec.count_at;
    const auto count = at < size ? parse_number(words[static_cast<std::size_t>(at)]) : std::nullopt;
    if (count) take(words, *begin + spec.first_key, *count, spec.step, keys);
    return;
  }
  std::int64_t last = *begin + spec.last;
  if (spec.last < 0) {
    last = spec.limit > 1 ? *begin + (size - *begin) / spec.limit + spec.last : size + spec.last;
  }
  last = std::min(last, size - 1);
  if (last >= *begin) take(words, *begin, (last - *begin) / spec.step + 1, spec.step, keys);
}

std::string name_of(CommandWords words, bool container) {
  std::string name = in_upper_case(words.front().substr(0, CommandTable::longest_name));
  if (container && words.size() > 1) {
    name.append(" ").append(in_upper_case(words[1].substr(0, CommandTable::longest_name)));
  }
  return printable(name, 2 * CommandTable::longest_name);
}

}  // namespace

// ---- the table

CommandWords CommandTable::question() const { return ask_for_all; }

std::expected<void, std::string> CommandTable::on_reply(const protocol::Reply& reply) {
  if (reply.status != Status::done) return std::unexpected(std::string(reply.text));
  ReplyReader reader({.text = std::numeric_limits<std::uint32_t>::max()});
  const bool whole = reader.read(reply.value) == ReplyReader::Progress::complete;
  if (!whole || !reader.root().is_aggregate()) {
    return std::unexpected("the answer to COMMAND is not a list of commands");
  }
  Entries entries;
  for (const Value command : reader.root()) add(command, entries, false);
  if (entries.empty()) return std::unexpected("the answer to COMMAND names no command");
  commands_ = std::move(entries);
  return {};
}

// [name, arity, flags, first key, last key, step, categories, hints, key specs, subcommands]
void CommandTable::add(const Value& command, Entries& entries, bool inner) {
  const std::string_view name = word(command.at(0));
  if (name.empty() || name.size() > longest_name || entries.size() >= most_commands) return;
  const auto flags = command.at(2);
  const auto first = place(command.at(3));
  const auto last = place(command.at(4));
  const auto step = place(command.at(5));
  if (!flags || !flags->is_aggregate() || !first || *first < 0 || !last || !step) return;
  Entry entry;
  entry.only_reads = has(*flags, "readonly") && !has(*flags, "write");
  entry.movable = has(*flags, "movablekeys");
  entry.first = *first;
  entry.last = *last;
  entry.step = std::max<std::int64_t>(1, *step);
  if (const auto specs = command.at(8)) {
    if (specs->size() > most_specs) return;
    for (const Value spec : *specs) entry.specs.push_back(read_spec(spec));
  }
  if (const auto inside = command.at(9); inside && !inner) {
    entry.container = inside->size() > 0;
    for (const Value subcommand : *inside) add(subcommand, entries, true);
  }
  entries.insert_or_assign(in_upper_case(name), std::move(entry));
}

const CommandTable::Entry* CommandTable::entry_of(CommandWords words) const {
  const std::string_view name = words.front();
  if (name.size() > longest_name) return nullptr;
  auto found = commands_.find(name);
  if (found == commands_.end()) return nullptr;
  if (found->second.container && words.size() > 1) {
    if (name.size() + words[1].size() > longest_name) return nullptr;
    found = commands_.find(std::string(name).append("|").append(words[1]));
  }
  return found != commands_.end() ? &found->second : nullptr;
}

LocalError CommandTable::unknown(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [entry, ignored] : commands_) {
    names.push_back(entry);
    std::ranges::replace(names.back(), '|', ' ');
  }
  std::ranges::sort(names);
  const std::string meant =
      did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()));
  return invalid("the servers know no command \"" + name +
                 "\"; it can be sent if its keys or a node are named" +
                 (meant.empty() ? "" : "." + meant));
}

std::size_t CommandTable::Hash::operator()(std::string_view name) const noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(lower(c))) * 0x100000001b3;
  return hash;
}

bool CommandTable::Same::operator()(std::string_view a, std::string_view b) const noexcept {
  return equals_ignoring_case(a, b);
}

std::optional<LocalError> CommandTable::find(CommandWords words, CommandUse& use) const {
  const Entry* const entry = entry_of(words);
  if (entry == nullptr) {
    const auto group = commands_.find(words.front().substr(0, longest_name));
    const bool container = group != commands_.end() && group->second.container;
    return unknown(name_of(words, container));
  }
  use.keys.clear();
  use.only_reads = entry->only_reads;
  bool all_known = true;
  const bool by_specs = entry->movable && !entry->specs.empty();
  if (by_specs) {
    for (const KeySpec& spec : entry->specs) {
      const bool known =
          spec.begin != KeySpec::Begin::unknown && spec.find != KeySpec::Find::unknown;
      if (known) find_keys(spec, words, use.keys);
      all_known = all_known && known;
    }
  } else if (entry->first > 0) {
    const KeySpec triple{.begin = KeySpec::Begin::index,
                         .at = entry->first,
                         .find = KeySpec::Find::range,
                         .last = entry->last < 0 ? entry->last : entry->last - entry->first,
                         .step = entry->step};
    find_keys(triple, words, use.keys);
  }
  // Commands may name more keys in other places; those are on the same node, or the server refuses.
  // If MIGRATE names several keys, its usual place for a key is empty.
  if (by_specs) std::erase_if(use.keys, [](std::string_view key) { return key.empty(); });
  if (use.keys.empty() && entry->movable && !(by_specs && all_known)) {
    return invalid("the servers do not report which arguments of " + name_of(words, false) +
                   " are keys; name its keys");
  }
  return std::nullopt;
}

std::optional<LocalError> CommandTable::refusal(CommandWords words) const {
  return refusal_of_command(words);
}

std::string CommandTable::of_each_node(CommandWords words) const {
  return command_of_each_node(words);
}

std::optional<CommandReply> CommandTable::read(std::string_view bytes) const {
  return read_command_reply(bytes);
}

}  // namespace sheaf::protocol::resp
