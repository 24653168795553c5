#include "client/calls/command_call.h"

#include <algorithm>
#include <utility>

#include "client/runtime/features.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::calls {
namespace {

constexpr std::uint64_t most_values = 4;  // limit for all words together, in value_limits

std::optional<Error> check_words(const sheaf::Command& command, const ClusterConfig& config) {
  std::uint64_t total = 0;
  for (const std::string& word : command.words()) {
    total += word.size();
    const bool fits = word.size() <= config.value_limit;
    if (fits && total <= most_values * config.value_limit) continue;
    const std::string size = std::to_string(fits ? total : word.size());
    return runtime::local_error(
        Outcome::invalid, Reason::too_large,
        (fits ? "the words of the command have " : "a word of the command has ") + size +
            " bytes; value_limit allows " + (fits ? "four times " : "") +
            std::to_string(config.value_limit));
  }
  return std::nullopt;
}

Result<Admission> admit_command(const runtime::Context& context, Form form,
                                const sheaf::Command& command, const CommandOptions& options) {
  const ClusterConfig& config = context.config();
  return admit(
      context, form, options.timeout, options.stop,
      first_of(runtime::check_feature(config, Feature::commands), check_words(command, config)));
}

}  // namespace

PassedCommand::PassedCommand(WorkEnd& end, runtime::Context& context, sheaf::Command command,
                             const Admission& admission)
    : end_(end), context_(context), command_(std::move(command)), started_(admission.started) {
  words_.assign(command_.words().begin(), command_.words().end());
  request_.operation.verb = protocol::Verb::command;
  request_.operation.words = words_;
  request_.operation.deadline = admission.deadline;
  request_.only_node = command_.node();
  request_.parent = admission.parent;
  request_.sink = this;
  if (const auto& keys = command_.keys()) {
    keys_.assign(keys->begin(), keys->end());
    request_.keys = keys_;
  }
}

void PassedCommand::on_done(socket::Request&, const socket::Completion& completion) {
  if (goes_again(completion)) {
    repeated_ = true;
    return start(completion.now);
  }
  out_.emplace(result(completion));
  end_.ended();
}

bool PassedCommand::goes_again(const socket::Completion& completion) const {
  return !completion.answered && completion.outcome == Outcome::unknown &&
         completion.reason == Reason::connection_lost && request_.only_reads() && !repeated_;
}

PassedCommand::Out PassedCommand::result(const socket::Completion& completion) const {
  if (!completion.answered) {
    Error error = runtime::make_error(completion, started_);
    const bool nothing_done = error.reason == Reason::too_large && request_.only_reads();
    if (nothing_done) error.outcome = Outcome::refused;
    return Failure(std::move(error));
  }
  auto reply = context_.path().commands().commands().read(completion.reply.value);
  if (reply) return std::move(*reply);
  Error error = runtime::make_error(completion, started_);
  error.reason = Reason::protocol_error;
  error.text = "the reply cannot be read";
  return Failure(std::move(error));
}

Result<CommandReply> execute(runtime::Context& context, sheaf::Command command,
                             const CommandOptions& options) {
  const auto admitted = admit_command(context, Form::blocking, command, options);
  if (!admitted) return Failure(admitted.error());
  return Blocking<PassedCommand>(context.lane(), HowToWait::for_keys(1, 1), context,
                                 std::move(command), *admitted)
      .wait(options.stop);
}

Call<Result<CommandReply>> execute_later(Origin origin, sheaf::Command command,
                                         const CommandOptions& options) {
  return prepare<Result<CommandReply>, PassedCommand>(
      std::move(origin), options.stop,
      [command = std::move(command), options = options](runtime::Context& context, Stop stop,
                                                        auto way) mutable {
        options.stop = stop;
        const auto admitted = admit_command(context, way.form, command, options);
        if (!admitted) return way.refuse(context, admitted.error());
        way.template run<PassedCommand>(context, stop, AsItIs(), context, std::move(command),
                                        *admitted);
      });
}

}  // namespace sheaf::client::calls
