// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/command_table.h"

#include <algorithm>

namespace sheaf::test::resp_model {
namespace {

constexpr auto data = CommandGroup::data;
constexpr auto cluster = CommandGroup::cluster;
constexpr auto connection = CommandGroup::connection;
constexpr auto first = CommandKeys::first;
constexpr auto all = CommandKeys::all;

constexpr CommandSpec table[] = {
    {.name = "get", .arity = 2, .group = data, .keys = first},
    {.name = "set", .arity = -3, .group = data, .keys = first, .write = true},
    {.name = "del", .arity = -2, .group = data, .keys = all, .write = true},
    {.name = "getex", .arity = -2, .group = data, .keys = first, .write = true},
    {.name = "pexpire", .arity = -3, .group = data, .keys = first, .write = true},
    {.name = "persist", .arity = 2, .group = data, .keys = first, .write = true},
    {.name = "mget", .arity = -2, .group = data, .keys = all},
    {.name = "mset", .arity = -3, .group = data, .keys = CommandKeys::odd, .write = true},
    {.name = "incrby", .arity = 3, .group = data, .keys = first, .write = true},
    {.name = "append", .arity = 3, .group = data, .keys = first, .write = true},
    {.name = "pttl", .arity = 2, .group = data, .keys = first},
    {.name = "exists", .arity = -2, .group = data, .keys = all},
    {.name = "cluster", .arity = -2, .group = cluster},
    {.name = "ping", .arity = -1, .group = connection},
    {.name = "asking", .arity = 1, .group = connection},
    {.name = "readonly", .arity = 1, .group = connection, .while_loading = true},
    {.name = "readwrite", .arity = 1, .group = connection, .while_loading = true},
    {.name = "client", .arity = -2, .group = connection, .while_loading = true},
    {.name = "watch", .arity = -2, .group = connection, .keys = all},
    {.name = "unwatch", .arity = 1, .group = connection},
    {.name = "multi", .arity = 1, .group = connection},
    {.name = "exec", .arity = 1, .group = connection},
    {.name = "discard", .arity = 1, .group = connection},
    {.name = "info", .arity = -1, .group = connection, .while_loading = true},
    {.name = "command", .arity = -1, .group = connection, .while_loading = true},
    {.name = "hello",
     .arity = -1,
     .group = connection,
     .while_loading = true,
     .before_login = true},
    {.name = "auth", .arity = -2, .group = connection, .while_loading = true, .before_login = true},
};

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return out;
}

std::span<const CommandSpec> all_commands() { return table; }

const CommandSpec* find_command(std::string_view name, const Dialect& dialect) {
  const std::string wanted = lower(name);
  if (wanted == "hello" && !dialect.has_hello) return nullptr;
  const bool of_transactions = wanted == "watch" || wanted == "unwatch" || wanted == "multi" ||
                               wanted == "exec" || wanted == "discard";
  if (of_transactions && !dialect.is_garnet()) return nullptr;  // their rules differ
  const auto* found = std::ranges::find(table, wanted, &CommandSpec::name);
  return found == std::end(table) ? nullptr : found;
}

bool arity_fits(const CommandSpec& spec, const Words& words) {
  const int count = static_cast<int>(words.size());
  return spec.arity >= 0 ? count == spec.arity : count >= -spec.arity;
}

std::vector<std::string> keys_of(const CommandSpec& spec, const Words& words) {
  if (spec.keys == CommandKeys::none) return {};
  if (spec.keys == CommandKeys::first) return {words[1]};
  if (spec.keys == CommandKeys::odd) {
    std::vector<std::string> keys;
    for (std::size_t i = 1; i < words.size(); i += 2) keys.push_back(words[i]);
    return keys;
  }
  return {words.begin() + 1, words.end()};
}

std::string unknown_command(const Words& words, const Dialect& dialect) {
  if (dialect.is_garnet()) return "ERR unknown command";
  std::string text = "ERR unknown command '" + words[0] + "', with args beginning with: ";
  for (std::size_t i = 1; i < words.size(); ++i) text += "'" + words[i] + "' ";
  return text;
}

std::string wrong_arity(std::string_view name) {
  return "ERR wrong number of arguments for '" + std::string(name) + "' command";
}

std::string unknown_subcommand(const Words& words) {
  std::string name = words[0];
  std::ranges::transform(name, name.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  });
  return "ERR unknown subcommand '" + words[1] + "'. Try " + name + " HELP.";
}

}  // namespace sheaf::test::resp_model
