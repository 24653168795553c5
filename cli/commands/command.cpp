#include "cli/commands/command.h"

#include <utility>

#include "base/local_error.h"
#include "base/text.h"
#include "cli/line/password.h"
#include "cli/line/servers.h"
#include "cli/show/json_lines.h"
#include "cli/system/explanation.h"
#include "protocol/statestore/clock.h"

namespace sheaf::cli {

namespace {

Result<ChosenServers> configure(const GlobalArguments& global) {
  Environment environment = Environment::read();
  if (global.ask_password) {
    auto password = ask_password();
    if (!password) return Failure(std::move(password.error()));
    environment.password = std::move(*password);
  }
  return choose_servers(global, environment).and_then([&](ChosenServers&& chosen) {
    return give_password(std::move(chosen.config), global.password_file, environment.password)
        .transform([&](ClusterConfig&& config) {
          return ChosenServers{std::move(config), std::move(chosen.place)};
        });
  });
}

// The owner of a key, for sentences; connects to nothing.
std::string owner_of(const Client& client, std::string_view key) {
  const auto location = client.locate(key);
  return location ? location->node : std::string();
}

}  // namespace

ExitCode on_servers(const Call& call, const std::function<ExitCode(Context&)>& work,
                    Connections connections, const std::function<void()>& before_client) {
  auto chosen = configure(call.global);
  if (!chosen) return complain_about(call, chosen.error());
  ClusterConfig& config = chosen->config;
  if (connections == Connections::when_needed) config.pool_min = 0;
  config.timeout = call.global.timeout;  // also bounds a first connection
  if (before_client) before_client();
  protocol::SharedLogin login = protocol::login_of(config);
  auto client = Client::open(std::move(config));
  if (!client) return complain_about(call, client.error());
  Context context{call, *client, std::move(chosen->place), std::move(login)};
  return work(context);
}

void complain_of(const Call& call, const Error& error, std::string_view sentence) {
  complain(sentence);
  if (!call.json()) explain(error);
}

ExitCode complain_about(const Error& error, bool json, Output& out) {
  if (json) out.line(json_failure(error));
  complain(sentence_of(error));
  if (!json) explain(error);
  return exit_code(error);
}

ExitCode complain_about(const Call& call, const Error& error) {
  return complain_about(error, call.json(), call.out);
}

ExitCode refuse(const Call& call, std::string sentence) {
  return complain_about(call,
                        local_error(Outcome::invalid, Reason::bad_argument, std::move(sentence)));
}

ExitCode fail(const Call& call, const std::string& sentence) {
  if (call.json())
    call.out.line(json_failure(local_error(Outcome::not_sent, Reason::other, ""), sentence));
  complain(sentence);
  return ExitCode::failed;
}

ExitCode complain_about_key(const Call& call, std::string_view key, const Error& error) {
  if (call.json()) call.out.line(json_error(key, error));
  complain_of(call, error, about_key(key, sentence_of(error)));
  return exit_code(error);
}

std::optional<Error> check_fence(const Client& client, const FencingToken& fence) {
  if (fence.text.empty() || !client.supports(Feature::fencing)) return std::nullopt;
  if (protocol::statestore::parse_timestamp(fence.text)) return std::nullopt;
  return local_error(Outcome::invalid, Reason::bad_argument,
                     "--fence must be a fencing token, the version of a lock's first set");
}

std::string about_key(std::string_view key, std::string_view sentence) {
  std::string about = printable(key);
  if (!about.empty()) about.append(": ");
  return about.append(sentence);
}

ExitCode negative(const Context& context, std::string_view key, std::string_view what) {
  if (!context.json()) {
    complain(printable(key) + ": " + std::string(what) + " on " + owner_of(context.client, key) +
             ".");
  }
  return ExitCode::negative;
}

}  // namespace sheaf::cli
