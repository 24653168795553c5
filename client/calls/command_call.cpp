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

std::optional<Error> check_no_node(const sheaf::Command& command) {
  if (command.node().empty()) return std::nullopt;
  return runtime::local_error(Outcome::invalid, Reason::bad_argument,
                              "the command names a node, but is for all nodes");
}

Result<Admission> admit_round(const runtime::Context& context, Form form,
                              const sheaf::Command& command, const CommandOptions& options) {
  const ClusterConfig& config = context.config();
  return admit(context, form, options.timeout, options.stop,
               first_of(runtime::check_feature(config, Feature::commands),
                        check_words(command, config), check_no_node(command)));
}

// The reply of a request that was answered.
Result<CommandReply> reply_of(runtime::Context& context, const socket::Completion& completion,
                              Deadline started) {
  auto reply = context.path().commands().commands().read(completion.reply.value);
  if (reply) return std::move(*reply);
  Error error = runtime::make_error(completion, started);
  error.reason = Reason::protocol_error;
  error.text = "the reply to the command cannot be read";
  return Failure(std::move(error));
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
  return reply_of(context_, completion, started_);
}

CommandRound::CommandRound(WorkEnd& end, runtime::Context& context, sheaf::Command command,
                           const Admission& admission)
    : end_(end), context_(context), command_(std::move(command)), admission_(admission) {
  words_.assign(command_.words().begin(), command_.words().end());
}

void CommandRound::start(Now now) {
  const auto refused = context_.path().commands().commands().refusal(words_);
  if (refused) return fail(runtime::local_error(refused->outcome, refused->reason, refused->text));
  if (context_.path().knows_members()) return ask_all(now);
  scout_.operation.verb = protocol::Verb::probe;
  scout_.operation.deadline = admission_.deadline;
  scout_.route = "any";
  scout_.counted = false;
  scout_.sink = this;
  context_.cluster().start(scout_, now);
}

void CommandRound::cancel(Now now) {
  cancelled_ = true;
  if (requests_.empty()) return context_.cluster().cancel(scout_, now);
  ++left_;  // not before the last one has been cancelled
  cancel_all(now);
  one_less();
}

void CommandRound::ask_all(Now now) {
  const auto& topology = context_.cluster().topology();
  const std::vector<std::uint32_t> nodes = topology.owning_nodes();
  if (nodes.empty()) {
    return fail(runtime::local_error(Outcome::not_sent, Reason::other, "no server owns a slot"));
  }
  requests_ = std::vector<cluster::Request>(nodes.size());
  for (const std::uint32_t node : nodes) {
    out_->push_back({topology.identity(node), CommandReply()});
  }
  left_ = requests_.size() + 1;  // not before the last one has been started
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    requests_[i].operation.verb = protocol::Verb::command;
    requests_[i].operation.words = words_;
    requests_[i].operation.deadline = admission_.deadline;
    requests_[i].parent = admission_.parent;
    requests_[i].sink = this;
    context_.cluster().start_on(nodes[i], requests_[i], now);
  }
  if (cancelled_) cancel_all(now);
  one_less();
}

void CommandRound::cancel_all(Now now) {
  for (cluster::Request& request : requests_) context_.cluster().cancel(request, now);
}

void CommandRound::on_done(socket::Request& request, const socket::Completion& completion) {
  if (&request == &scout_) {
    if (context_.path().knows_members()) return ask_all(completion.now);
    return fail(runtime::make_error(completion, admission_.started));
  }
  const auto place = static_cast<const cluster::Request*>(&request) - requests_.data();
  Result<CommandReply>& reply = (*out_)[static_cast<std::size_t>(place)].reply;
  if (completion.answered) {
    reply = reply_of(context_, completion, admission_.started);
  } else {
    reply = Failure(runtime::make_error(completion, admission_.started));
  }
  one_less();
}

void CommandRound::fail(Error error) {
  out_ = Failure(std::move(error));
  end_.ended();
}

void CommandRound::one_less() {
  if (--left_ == 0) end_.ended();
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

Result<std::vector<NodeReply>> execute_on_all(runtime::Context& context, sheaf::Command command,
                                              const CommandOptions& options) {
  const auto admitted = admit_round(context, Form::blocking, command, options);
  if (!admitted) return Failure(admitted.error());
  return Blocking<CommandRound>(context.lane(), {}, context, std::move(command), *admitted)
      .wait(options.stop);
}

Call<Result<std::vector<NodeReply>>> execute_on_all_later(Origin origin, sheaf::Command command,
                                                          const CommandOptions& options) {
  return prepare<Result<std::vector<NodeReply>>, CommandRound>(
      std::move(origin), options.stop,
      [command = std::move(command), options = options](runtime::Context& context, Stop stop,
                                                        auto way) mutable {
        options.stop = stop;
        const auto admitted = admit_round(context, way.form, command, options);
        if (!admitted) return way.refuse(context, admitted.error());
        way.template run<CommandRound>(context, stop, AsItIs(), context, std::move(command),
                                       *admitted);
      });
}

}  // namespace sheaf::client::calls
