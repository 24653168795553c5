// exec: a command of the server's own.

#include <string>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/show/json_lines.h"
#include "cli/show/reply_text.h"

namespace sheaf::cli {

ExitCode run_exec(Context& context) {
  const ExecArguments& arguments = context.arguments.exec;
  sheaf::Command command(arguments.words);
  if (!arguments.node.empty()) command.at_node(arguments.node);
  const auto reply =
      context.client.execute(std::move(command), {.timeout = context.arguments.global.timeout});
  if (!reply) return complain_about(context, reply.error());
  if (context.json()) {
    context.out.line(json_reply(*reply));
  } else {
    context.out.value_line(reply_text(*reply), context.arguments.raw);
  }
  return reply->is_null() ? ExitCode::negative : ExitCode::done;
}

}  // namespace sheaf::cli
