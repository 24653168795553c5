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

ExitCode run_exec(Context& context, const ExecWords& words) {
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
    {"--node", "HOST:PORT", "send it to this node, whatever the keys"}, options::raw};

}  // namespace

CommandRow exec_command() {
  return command<read_exec_words, run_exec>(
      {.name = "exec",
       .group = group::servers,
       .arguments = "CMD...",
       .purpose = "send one of the server's own commands; prints its reply (redis)",
       .text = "It goes to the owner of its keys. Options go before CMD; put -- before a command "
               "with arguments like -inf.",
       .examples = {"sheaf exec ZADD board 12 ann", "sheaf exec --node 10.0.0.7:6379 INFO memory"},
       .options = exec_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli
