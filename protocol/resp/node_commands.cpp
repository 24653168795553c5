// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/node_commands.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "protocol/resp/wire/name_filter.h"

namespace sheaf::protocol::resp {
namespace {

struct NodeCommand {
  std::string_view name;
  std::string_view word;  // the subcommand; "*": all but HELP; empty: it has none
};

// By name. Garnet's own are COMMITAOF, FORCEGC, PURGEBP and SECONDARYOF; COMMANDLOG is Valkey's.
constexpr std::array node_commands{
    NodeCommand{"ACL", "DELUSER"},
    NodeCommand{"ACL", "DRYRUN"},
    NodeCommand{"ACL", "GETUSER"},
    NodeCommand{"ACL", "LIST"},
    NodeCommand{"ACL", "LOAD"},
    NodeCommand{"ACL", "LOG"},
    NodeCommand{"ACL", "SAVE"},
    NodeCommand{"ACL", "SETUSER"},
    NodeCommand{"ACL", "USERS"},
    NodeCommand{"BGREWRITEAOF", ""},
    NodeCommand{"BGSAVE", ""},
    NodeCommand{"CLIENT", "*"},
    NodeCommand{"CLUSTER", "ADDSLOTS"},
    NodeCommand{"CLUSTER", "ADDSLOTSRANGE"},
    NodeCommand{"CLUSTER", "BUMPEPOCH"},
    NodeCommand{"CLUSTER", "COUNT-FAILURE-REPORTS"},
    NodeCommand{"CLUSTER", "COUNTKEYSINSLOT"},
    NodeCommand{"CLUSTER", "DELSLOTS"},
    NodeCommand{"CLUSTER", "DELSLOTSRANGE"},
    NodeCommand{"CLUSTER", "FAILOVER"},
    NodeCommand{"CLUSTER", "FLUSHSLOTS"},
    NodeCommand{"CLUSTER", "FORGET"},
    NodeCommand{"CLUSTER", "GETKEYSINSLOT"},
    NodeCommand{"CLUSTER", "LINKS"},
    NodeCommand{"CLUSTER", "MYID"},
    NodeCommand{"CLUSTER", "MYSHARDID"},
    NodeCommand{"CLUSTER", "REPLICATE"},
    NodeCommand{"CLUSTER", "RESET"},
    NodeCommand{"CLUSTER", "SAVECONFIG"},
    NodeCommand{"CLUSTER", "SET-CONFIG-EPOCH"},
    NodeCommand{"CLUSTER", "SETSLOT"},
    NodeCommand{"COMMANDLOG", "*"},
    NodeCommand{"COMMITAOF", ""},
    NodeCommand{"CONFIG", "*"},
    NodeCommand{"DBSIZE", ""},
    NodeCommand{"DEBUG", "*"},
    NodeCommand{"FAILOVER", ""},
    NodeCommand{"FLUSHALL", ""},
    NodeCommand{"FLUSHDB", ""},
    NodeCommand{"FORCEGC", ""},
    NodeCommand{"FUNCTION", "*"},
    NodeCommand{"INFO", ""},
    NodeCommand{"KEYS", ""},
    NodeCommand{"LASTSAVE", ""},
    NodeCommand{"LATENCY", "*"},
    NodeCommand{"MEMORY", "DOCTOR"},
    NodeCommand{"MEMORY", "MALLOC-STATS"},
    NodeCommand{"MEMORY", "PURGE"},
    NodeCommand{"MEMORY", "STATS"},
    NodeCommand{"MODULE", "*"},
    NodeCommand{"PUBSUB", "*"},
    NodeCommand{"PURGEBP", ""},
    NodeCommand{"RANDOMKEY", ""},
    NodeCommand{"REPLICAOF", ""},
    NodeCommand{"ROLE", ""},
    NodeCommand{"SAVE", ""},
    NodeCommand{"SCAN", ""},
    NodeCommand{"SCRIPT", "*"},
    NodeCommand{"SECONDARYOF", ""},
    NodeCommand{"SHUTDOWN", ""},
    NodeCommand{"SLAVEOF", ""},
    NodeCommand{"SLOWLOG", "*"},
    NodeCommand{"SWAPDB", ""},
};
static_assert(std::ranges::is_sorted(node_commands, {}, &NodeCommand::name));
constexpr NameFilter node_command_names(node_commands, &NodeCommand::name);

constexpr std::string_view all_but_help = "*";

}  // namespace

std::string command_of_each_node(std::span<const std::string_view> words) {
  if (words.empty() || !node_command_names.may_have(words.front())) return {};
  const std::string_view word = words.size() > 1 ? words[1] : std::string_view();
  const auto found = std::ranges::find_if(node_commands, [&](const NodeCommand& command) {
    if (!equals_ignoring_case(words.front(), command.name)) return false;
    if (command.word == all_but_help) return !equals_ignoring_case(word, "HELP");
    return command.word.empty() || equals_ignoring_case(word, command.word);
  });
  if (found == node_commands.end()) return {};
  std::string name(found->name);
  const bool one = !found->word.empty() && found->word != all_but_help;
  return one ? name.append(" ").append(found->word) : name;
}

}  // namespace sheaf::protocol::resp
