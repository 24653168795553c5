#include "client/calls/command_call.h"

#include <algorithm>
#include <utility>

#include "client/calls/node_round.h"
#include "client/runtime/features.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::calls {
namespace {

constexpr std::uint64_t most_values = 4;  // limit for all words together, in value_limits

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

// One command for every node that owns keys. Only connections that are lost with a node's request
// on them make that node's effect unknown; it is not repeated.
class Replies {
 public:
  using Out = Result<std::vector<NodeReply>>;

  explicit Replies(sheaf::Command command) : command_(std::move(command)) {
    words_.assign(command_.words().begin(), command_.words().end());
  }
  std::optional<Error> refusal(runtime::Context& context) const {
    const auto refused = context.path().commands().commands().refusal(words_);
    if (!refused) return std::nullopt;
    return runtime::local_error(refused->outcome, refused->reason, refused->text);
  }
  static Deadline scout_deadline(const Admission& admission, Now) { return admission.deadline; }
  static std::optional<Error> unknown(const socket::Completion& completion, Deadline started) {
    return runtime::make_error(completion, started);
  }
  static std::vector<std::uint32_t> nodes(const cluster::Topology& topology) {
    return topology.owning_nodes();
  }
  void describe(protocol::Operation& operation) const {
    operation.verb = protocol::Verb::command;
    operation.words = words_;
  }
  void expect(const cluster::Member& member) {
    out_->push_back({member.identity(), CommandReply()});
  }
  void on_answer(std::size_t position, runtime::Context& context, const socket::Request&,
                 const socket::Completion& completion, Deadline started) {
    Result<CommandReply>& reply = (*out_)[position].reply;
    if (completion.answered) {
      reply = reply_of(context, completion, started);
    } else {
      reply = Failure(runtime::make_error(completion, started));
    }
  }
  void fail(Error error) { out_ = Failure(std::move(error)); }
  Out take() { return std::move(out_); }

 private:
  const sheaf::Command command_;
  std::vector<std::string_view> words_;  // views of command_
  Out out_;
};

using CommandRound = NodeRound<Replies>;

}  // namespace

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

bool may_go_again(const socket::Completion& completion, bool only_reads) noexcept {
  return !completion.answered && completion.outcome == Outcome::unknown &&
         completion.reason == Reason::connection_lost && only_reads;
}

Result<CommandReply> result_of_command(runtime::Context& context,
                                       const socket::Completion& completion, bool only_reads,
                                       Deadline started) {
  if (completion.answered) return reply_of(context, completion, started);
  Error error = runtime::make_error(completion, started);
  if (error.reason == Reason::too_large && only_reads) error.outcome = Outcome::refused;
  return Failure(std::move(error));
}

CommandTexts add_texts(const sheaf::Command& command, std::vector<std::string_view>& texts) {
  const auto add = [&texts](const std::vector<std::string>& given) {
    const std::size_t first = texts.size();
    texts.insert(texts.end(), given.begin(), given.end());
    return std::span<const std::string_view>(texts).subspan(first);
  };
  CommandTexts made;
  made.words = add(command.words());
  if (const auto& named = command.keys()) made.keys = add(*named);
  return made;
}

void PassedRequest::describe(const sheaf::Command& command, const CommandTexts& texts,
                             const Admission& admission) {
  operation.verb = protocol::Verb::command;
  operation.words = texts.words;
  operation.deadline = admission.deadline;
  only_node = command.node();
  parent = admission.parent;
  keys = texts.keys;
}

PassedCommand::PassedCommand(WorkEnd& end, runtime::Context& context, sheaf::Command command,
                             const Admission& admission)
    : end_(end), context_(context), command_(std::move(command)), started_(admission.started) {
  texts_.reserve(count_texts(command_));
  request_.describe(command_, add_texts(command_, texts_), admission);
  request_.sink = this;
}

void PassedCommand::on_done(socket::Request&, const socket::Completion& completion) {
  if (request_.goes_again(completion)) return start(completion.now);
  out_.emplace(request_.result(context_, completion, started_));
  end_.ended();
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
  return Blocking<CommandRound>(context.lane(), HowToWait(), context, *admitted, std::move(command))
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
        way.template run<CommandRound>(context, stop, AsItIs(), context, *admitted,
                                       std::move(command));
      });
}

}  // namespace sheaf::client::calls
