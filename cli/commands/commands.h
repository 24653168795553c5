#pragma once

// The commands that need servers. Each takes the checked command line and an open client, writes
// its answer to `out` and its errors, a sentence each, to standard error.
//
// Thread rule: one thread.

#include <string>
#include <string_view>

#include <sheaf/client.h>

#include "cli/line/arguments.h"
#include "cli/system/exit_code.h"
#include "cli/system/output.h"
#include "cli/system/signals.h"

namespace sheaf::cli {

// What a command works with.
struct Context {
  const Arguments& arguments;
  Client& client;
  int in;  // descriptor of standard input
  Output& out;

  bool json() const noexcept { return arguments.global.json; }
};

// Prints the error's sentence; returns what it means for the exit code.
ExitCode complain_about(const Error& error);
// The same; in `--json` mode its line goes to `out`, too.
ExitCode complain_about(const Error& error, bool json, Output& out);
ExitCode complain_about(Context& context, const Error& error);
// What is not allowed as asked, in one sentence.
ExitCode refuse(Context& context, std::string sentence);
// What failed on this side, in one sentence, and nothing was changed.
ExitCode fail(const std::string& sentence, bool json, Output& out);
// An error for one key: the sentence begins with the key, and in `--json` mode its line names it.
ExitCode complain_about_key(Context& context, std::string_view key, const Error& error);
// "KEY: SENTENCE". Of an empty key the sentence alone.
std::string about_key(std::string_view key, std::string_view sentence);
// A condition on the key did not hold: prints `what` and the key's owner, but not in `--json`
// mode.
ExitCode negative(Context& context, std::string_view key, std::string_view what);

ExitCode run_get(Context& context);
ExitCode run_exists(Context& context);
ExitCode run_set(Context& context);
ExitCode run_edit(Context& context);  // append, prepend
ExitCode run_getset(Context& context);
ExitCode run_del(Context& context);
ExitCode run_del_many(Context& context);
ExitCode run_incr(Context& context);
ExitCode run_touch(Context& context);
ExitCode run_mget(Context& context);
ExitCode run_mset(Context& context);
ExitCode run_list(Context& context);
ExitCode run_locate(Context& context);
ExitCode run_ring(Context& context);
// Without servers.
ExitCode run_ring_diff(const Arguments& arguments, Output& out);
// With servers of its own options.
ExitCode run_migrate(const Arguments& arguments, Output& out);
ExitCode run_nodes(Context& context);
ExitCode run_stats(Context& context);
ExitCode run_exec(Context& context);
ExitCode run_top(Context& context);
ExitCode run_bench(Context& context);
// Runs until `signals` report the end.
ExitCode run_watch(Context& context, const Signals& signals);

}  // namespace sheaf::cli
