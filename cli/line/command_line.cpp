#include "cli/line/command_line.h"

#include <utility>

#include "cli/line/option_reader.h"

namespace sheaf::cli {

namespace {

std::expected<GlobalArguments, std::string> read_global(const ParsedLine& line) {
  using namespace std::chrono_literals;
  GlobalArguments global;
  OptionReader reader(line);
  reader.text("--servers", "a URI", global.servers);
  reader.text("--config", "a FILE", global.config);
  reader.text("--cluster", "a NAME", global.cluster);
  reader.text("--password-file", "a FILE", global.password_file);
  global.ask_password = line.has("--ask-password");
  global.json = line.has("--json");
  reader.refuse_if(line.has("--servers") && line.has("--config"),
                   "--servers and --config are both given: give only one of them.");
  reader.refuse_if(line.has("--servers") && line.has("--cluster"),
                   "--cluster names a cluster of a file; it cannot be combined with --servers.");
  reader.refuse_if(line.has("--password-file") && global.ask_password,
                   "--password-file and --ask-password are both given.");
  reader.time("--timeout", 1ms, 24h, global.timeout);
  return reader.take(std::move(global));
}

std::unexpected<EarlyExit> refused(std::string sentence) {
  return std::unexpected(EarlyExit{ExitCode::usage, std::move(sentence)});
}

}  // namespace

std::expected<CommandLine, EarlyExit> CommandLineParser::parse(
    const std::vector<std::string>& words) {
  const auto line = lines_.parse(words);
  if (!line) return std::unexpected(line.error());
  auto global = read_global(*line);
  if (!global) return refused(std::move(global.error()));
  auto own = line->row->read(*line);
  if (!own) return refused(std::move(own.error()));
  return CommandLine{line->row, std::move(*global), std::move(*own)};
}

}  // namespace sheaf::cli
