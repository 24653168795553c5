// incr, touch, stats: what memcached has beside values.

#include <string>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/show/json_lines.h"
#include "cli/show/stats_lines.h"

namespace sheaf::cli {

ExitCode run_incr(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string& key = arguments.keys.front();
  const CountOptions options{.initial = arguments.count.initial,
                             .ttl = arguments.ttl,
                             .timeout = arguments.global.timeout};
  const auto number = arguments.count.down
                          ? context.client.decrement(key, arguments.count.delta, options)
                          : context.client.increment(key, arguments.count.delta, options);
  if (!number) return complain_about_key(context, key, number.error());
  if (context.json()) context.out.line(json_number(key, *number));
  if (!*number) return negative(context, key, "the key is absent");
  if (!context.json()) context.out.line(std::to_string(**number));
  return ExitCode::done;
}

ExitCode run_touch(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string& key = arguments.keys.front();
  const auto touched =
      context.client.touch(key, {.ttl = arguments.ttl, .timeout = arguments.global.timeout});
  if (!touched) return complain_about_key(context, key, touched.error());
  if (context.json()) context.out.line(json_done(key, "touched", *touched));
  return *touched ? ExitCode::done : negative(context, key, "the key is absent");
}

ExitCode run_stats(Context& context) {
  const Arguments& arguments = context.arguments;
  ExitCode code = ExitCode::done;
  for (const NodeText& server :
       context.client.server_stats(arguments.stats_group, {.timeout = arguments.global.timeout})) {
    if (!server.text) {
      const std::string sentence = sentence_of(server.text.error());
      if (context.json()) context.out.line(json_node_error(server.node, server.text.error()));
      complain(server.text.error().node.empty() ? server.node + ": " + sentence : sentence);
      code = exit_code(server.text.error());
      if (code == ExitCode::usage) return code;  // the same for every server
      continue;
    }
    if (context.json()) {
      context.out.line(json_stats(server.node, *server.text));
      continue;
    }
    for_each_stat(*server.text, [&](std::string_view name, std::string_view value) {
      context.out.write(server.node + "\t");
      context.out.write(printable(name) + "\t");
      context.out.line(printable(value));
    });
  }
  return code;
}

}  // namespace sheaf::cli
