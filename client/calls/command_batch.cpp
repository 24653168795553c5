#include "client/calls/command_batch.h"

#include <utility>

#include "client/runtime/features.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::calls {
namespace {

Result<Admission> admit_commands(const runtime::Context& context, Form form,
                                 const CommandOptions& options) {
  return admit(context, form, options.timeout, options.stop,
               runtime::check_feature(context.config(), Feature::commands));
}

CommandBatch::Out refuse_all(std::size_t count, const Error& error) {
  CommandBatch::Out refused;
  for (std::size_t i = 0; i < count; ++i) refused.emplace_back(Failure(error));
  return refused;
}

HowToWait how_to_wait(const runtime::Context& context, std::size_t commands) {
  const bool one_node = context.topology()->sole() != cluster::nobody;
  return HowToWait::for_keys(commands, one_node ? 1 : 2);
}

}  // namespace

CommandBatch::CommandBatch(WorkEnd& end, runtime::Context& context, Commands commands,
                           const Admission& admission, std::vector<sheaf::Command> owned)
    : end_(end),
      context_(context),
      owned_(std::move(owned)),
      commands_(commands),
      started_(admission.started),
      most_(context.config().max_in_flight),
      all_(new PassedRequest[commands.size()]),
      replies_(commands.size(), CommandReply()) {
  std::size_t texts = 0;
  for (const sheaf::Command& command : commands) {
    texts += command.words().size() + (command.keys() ? command.keys()->size() : 0);
  }
  words_.reserve(texts);  // views of its parts stay valid
  for (std::size_t i = 0; i < commands.size(); ++i) {
    all_[i].describe(commands[i], admission, words_);
    all_[i].in_line = true;
    all_[i].sink = this;
  }
}

void CommandBatch::cancel(Now now) {
  context_.path().loop().forget(*this);
  cancelled_ = true;
  starting_ = true;  // commands that end here do not end the batch yet
  for (std::size_t i = 0; i < next_; ++i) context_.path().commands().cancel(all_[i], now);
  starting_ = false;
  go_on(now);
}

// The last thing that it does may be to end the batch.
void CommandBatch::go_on(Now now) {
  starting_ = true;
  while (next_ < commands_.size() && (cancelled_ || next_ - ended_ < most_)) start_next(now);
  starting_ = false;
  if (ended_ == commands_.size()) end_.ended();
}

// A bad command fails alone.
void CommandBatch::start_next(Now now) {
  const std::size_t place = next_++;
  if (cancelled_) {
    Error error = cancelled_error();
    error.elapsed = now.mono - started_;
    return fail(place, std::move(error));
  }
  if (auto error = check_words(commands_[place], context_.config())) {
    return fail(place, std::move(*error));
  }
  context_.path().commands().start(all_[place], now);
}

void CommandBatch::fail(std::size_t place, Error error) {
  replies_[place] = Failure(std::move(error));
  ++ended_;
}

void CommandBatch::on_done(socket::Request& request, const socket::Completion& completion) {
  PassedRequest& passed = static_cast<PassedRequest&>(request);
  if (!cancelled_ && passed.goes_again(completion)) {
    return context_.path().commands().start(passed, completion.now);
  }
  replies_[static_cast<std::size_t>(&passed - all_.get())] =
      passed.result(context_, completion, started_);
  ++ended_;
  if (starting_) return;
  if (ended_ == commands_.size()) return end_.ended();
  if (next_ < commands_.size()) context_.path().loop().defer(*this);
}

CommandBatch::Out execute_many(runtime::Context& context, CommandBatch::Commands commands,
                               const CommandOptions& options) {
  const auto admitted = admit_commands(context, Form::blocking, options);
  if (!admitted) return refuse_all(commands.size(), admitted.error());
  if (commands.empty()) return {};
  return Blocking<CommandBatch>(context.lane(), how_to_wait(context, commands.size()), context,
                                commands, *admitted)
      .wait(options.stop);
}

Call<CommandBatch::Out> execute_many_later(Origin origin, std::vector<sheaf::Command> commands,
                                           const CommandOptions& options) {
  return prepare<CommandBatch::Out, CommandBatch>(
      std::move(origin), options.stop,
      [commands = std::move(commands), options = options](runtime::Context& context, Stop stop,
                                                          auto way) mutable {
        options.stop = stop;
        const auto admitted = admit_commands(context, way.form, options);
        if (!admitted) return way.give(context, refuse_all(commands.size(), admitted.error()));
        if (commands.empty()) return way.give(context, {});
        const CommandBatch::Commands all(commands);
        way.template run<CommandBatch>(context, stop, AsItIs(), context, all, *admitted,
                                       std::move(commands));
      });
}

}  // namespace sheaf::client::calls
