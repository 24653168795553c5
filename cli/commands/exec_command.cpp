// exec: sends any command that the server knows.

#include <string>
#include <utility>

#include "cli/commands/command.h"
#include "cli/commands/common_options.h"
#include "cli/line/server_words.h"
#include "cli/show/json_lines.h"
#include "cli/show/reply_text.h"

namespace sheaf::cli {

namespace {

// The lines of a reply below the name of its node.
std::string node_block(const std::string& node, const CommandReply& reply) {
  std::string text = node + "\n  ";
  for (const char c : reply_text(reply)) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

ExitCode ask_all_nodes(Context& context, const ExecWords& words) {
  const auto replies =
      context.client.execute_on_all(Command(words.words), {.timeout = context.global.timeout});
  if (!replies) return complain_about(context, replies.error());
  Tally tally;
  bool all_null = true;
  for (const NodeReply& node : *replies) {
    if (!node.reply) {
      if (context.json()) context.out.line(json_node_error(node.node, node.reply.error()));
      complain_of(context, node.reply.error(), sentence_of(node.reply.error()));
      tally.add_failure(node.reply.error());
      continue;
    }
    tally.add_success();
    all_null = all_null && node.reply->is_null();
    if (context.json()) {
      context.out.line(json_node_reply(node.node, *node.reply));
    } else {
      context.out.value_line(node_block(node.node, *node.reply), words.raw);
    }
  }
  if (tally.failures() > 0) {
    complain(std::to_string(tally.answered()) + " of " + std::to_string(tally.total()) +
             " nodes carried it out");
  }
  return tally.failures() == 0 && all_null ? ExitCode::negative : tally.exit_code();
}

ExitCode run_exec(Context& context, const ExecWords& words) {
  if (words.all_nodes) return ask_all_nodes(context, words);
  Command command(words.words);
  if (!words.node.empty()) command.at_node(words.node);
  const auto reply =
      context.client.execute(std::move(command), {.timeout = context.global.timeout});
  if (!reply) return complain_about(context, reply.error());
  if (context.json()) {
    context.out.line(json_reply(*reply));
  } else {
    context.out.value_line(reply_text(*reply), words.raw);
  }
  return reply->is_null() ? ExitCode::negative : ExitCode::done;
}

constexpr OptionRow exec_options[] = {
    {"--node", "HOST:PORT", "send it to this node, whatever the keys"},
    {"--all-nodes", "", "send it to each node that owns keys, in a cluster to each primary"},
    options::raw};

}  // namespace

CommandRow exec_command() {
  return command<read_exec_words, run_exec>(
      {.name = "exec",
       .group = group::servers,
       .arguments = "CMD...",
       .purpose = "send one of the server's own commands; prints its reply (redis)",
       .text =
           "It goes to the owner of its keys. FLUSHALL, KEYS, INFO and others that concern each "
           "node need --node or --all-nodes if there are several. Options go before CMD; put "
           "-- before a command with arguments like -inf.",
       .examples = {"sheaf exec ZADD board 12 ann", "sheaf exec --all-nodes DBSIZE"},
       .options = exec_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli
