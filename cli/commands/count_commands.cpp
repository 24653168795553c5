// incr, touch: commands for memcached and Redis only; stats.

#include <string>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/common_options.h"
#include "cli/line/key_words.h"
#include "cli/line/server_words.h"
#include "cli/show/json_lines.h"
#include "cli/show/stats_lines.h"

namespace sheaf::cli {

namespace {

ExitCode run_incr(Context& context, const IncrWords& words) {
  const CountOptions options{
      .initial = words.initial, .ttl = words.ttl, .timeout = context.global.timeout};
  const auto number = words.down ? context.client.decrement(words.key, words.delta, options)
                                 : context.client.increment(words.key, words.delta, options);
  if (!number) return complain_about_key(context, words.key, number.error());
  if (context.json()) context.out.line(json_number(words.key, *number));
  if (!*number) return negative(context, words.key, "the key is absent");
  if (!context.json()) context.out.line(std::to_string(**number));
  return ExitCode::done;
}

constexpr OptionRow incr_options[] = {
    {"--initial", "N", "value that an absent key is set to"},
    {"--ttl", "DURATION", "time to live of a key that --initial creates"}};

}  // namespace

CommandRow incr_command() {
  return command<read_incr_words, run_incr>(
      {.name = "incr",
       .group = group::keys,
       .arguments = "KEY [DELTA]",
       .purpose = "add to a number; prints the new one (memcached, redis)",
       .text =
           "DELTA is 1 if left out. A negative DELTA subtracts, down to 0. An absent key without "
           "--initial stays absent, and the exit code is 1.",
       .examples = {"sheaf incr visits", "sheaf incr stock:17 -3 --initial 100"},
       .options = incr_options,
       .completion = completes_nothing});
}

namespace {

ExitCode run_touch(Context& context, const TouchWords& words) {
  const auto touched =
      context.client.touch(words.key, {.ttl = words.ttl, .timeout = context.global.timeout});
  if (!touched) return complain_about_key(context, words.key, touched.error());
  if (context.json()) context.out.line(json_done(words.key, "touched", *touched));
  return *touched ? ExitCode::done : negative(context, words.key, "the key is absent");
}

constexpr OptionRow touch_options[] = {options::ttl};

}  // namespace

CommandRow touch_command() {
  return command<read_touch_words, run_touch>(
      {.name = "touch",
       .group = group::keys,
       .arguments = "KEY",
       .purpose = "give a key a new time to live (memcached, redis)",
       .text = "--ttl must be given. An absent key stays absent, and the exit code is 1.",
       .examples = {"sheaf touch session:17 --ttl 30m", "sheaf touch lease --ttl 500ms || ./renew"},
       .options = touch_options,
       .completion = completes_nothing});
}

namespace {

ExitCode run_stats(Context& context, const StatsWords& words) {
  ExitCode code = ExitCode::done;
  for (const NodeText& server :
       context.client.server_stats(words.group, {.timeout = context.global.timeout})) {
    if (!server.text) {
      const std::string sentence = sentence_of(server.text.error());
      if (context.json()) context.out.line(json_node_error(server.node, server.text.error()));
      complain_of(context, server.text.error(),
                  server.text.error().node.empty() ? server.node + ": " + sentence : sentence);
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

}  // namespace

CommandRow stats_command() {
  return command<read_stats_words, run_stats>(
      {.name = "stats",
       .group = group::servers,
       .arguments = "[GROUP]",
       .purpose = "print the statistics of every server",
       .text =
           "GROUP is settings, items, slabs, sizes, conns or extstore on memcached, and a "
           "section of INFO on redis. State stores have no groups; only sheaf's own ones answer, "
           "and with a file of rights it must let the client inspect the store.",
       .examples = {"sheaf stats", "sheaf stats memory --json"},
       .completion = completes_words("settings items slabs sizes conns extstore server clients "
                                     "memory persistence stats replication cpu cluster keyspace")});
}

}  // namespace sheaf::cli
