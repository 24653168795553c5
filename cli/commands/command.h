#pragma once

// command<Read, Run>() makes the row of a command from its texts, the function that reads its
// words, and the one that runs it. A command runs with a Call, or with a Context if it needs
// servers. It writes its answer to `out` and its errors, one sentence each, to standard error.
//
// Thread rule: one thread.

#include <any>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sheaf/client.h>

#include "cli/line/command_line.h"
#include "cli/system/exit_code.h"
#include "cli/system/output.h"
#include "protocol/login.h"

namespace sheaf::cli {

// A call of the program, for commands without servers.
struct Call {
  CommandTable table;
  const GlobalArguments& global;
  int in;  // descriptor of standard input
  Output& out;

  bool json() const noexcept { return global.json; }
};

// The same with an open client.
struct Context : Call {
  Client& client;
  std::string place;  // what named the servers, if not the command line
  // What connections of the command's own log in with, without a password that is in a file. Null:
  // nothing.
  protocol::SharedLogin login{};
};

// Which connections a client makes when it opens. Most commands need few nodes, `ring` often no
// node.
enum class Connections : bool { when_needed, to_all_nodes };

// Opens a client of the servers that the command line and the environment name, and runs `work`.
// `before_client` runs just before the client starts its threads, which inherit the signal mask.
// Until then signals end the program, for example while it asks for the password.
ExitCode on_servers(const Call& call, const std::function<ExitCode(Context&)>& work,
                    Connections connections = Connections::when_needed,
                    const std::function<void()>& before_client = {});

// The same for work that waits for signals, which a `Signals` blocks during its lifetime.
template <class Signals, class Work>
ExitCode on_servers_with(const Call& call, const Work& work) {
  std::optional<Signals> signals;
  return on_servers(
      call, [&](Context& context) { return work(context, *signals); }, Connections::when_needed,
      [&] { signals.emplace(); });
}

// The row of a command. `Read` makes the command's own struct from a ParsedLine, or returns one
// sentence about an error. `Run` takes this struct after a Context, if it needs servers, or a Call.
// A row with a missing part does not compile.
template <auto Read, auto Run>
consteval CommandRow command(const CommandText& text) {
  if (!what_lacks(text).empty()) throw what_lacks(text);
  using Words = std::invoke_result_t<decltype(Read), const ParsedLine&>::value_type;
  CommandRow row{text};
  row.read = read_any<Read>;
  row.run = [](const Call& call, const std::any& any) -> ExitCode {
    const auto& words = *std::any_cast<Words>(&any);
    if constexpr (std::is_invocable_v<decltype(Run), const Call&, const Words&>) {
      return Run(call, words);
    } else {
      return on_servers(call, [&](Context& context) { return Run(context, words); });
    }
  };
  return row;
}

// Prints a sentence about an error. On a terminal, without `--json`, the explanation follows.
void complain_of(const Call& call, const Error& error, std::string_view sentence);
// Prints the error's sentence, and its line with `--json`. Returns the exit code.
ExitCode complain_about(const Error& error, bool json, Output& out);
ExitCode complain_about(const Call& call, const Error& error);
// Refuses the request with one sentence.
ExitCode refuse(const Call& call, std::string sentence);
// Reports a local failure with one sentence; nothing was changed.
ExitCode fail(const Call& call, const std::string& sentence);
// Reports an error for one key: its sentence begins with the key, and its `--json` line names it.
ExitCode complain_about_key(const Call& call, std::string_view key, const Error& error);
// Why a fencing token is refused. Servers without fencing refuse every token themselves.
std::optional<Error> check_fence(const Client& client, const FencingToken& fence);
// "KEY: SENTENCE"; the sentence alone if the key is empty.
std::string about_key(std::string_view key, std::string_view sentence);
// A condition on the key did not hold: prints `what` and the key's owner, except with `--json`.
ExitCode negative(const Context& context, std::string_view key, std::string_view what);

}  // namespace sheaf::cli
