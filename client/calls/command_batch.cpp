#include "client/calls/command_batch.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/checks.h"
#include "client/calls/list_feed.h"
#include "client/runtime/features.h"
#include "client/runtime/outcomes.h"
#include "cluster/moving/key_order.h"

namespace sheaf::client::calls {
namespace {

constexpr std::uint32_t largest_group = 128;
constexpr std::size_t largest_in_group = 8 * 1024;  // bytes of a command, since groups are copied
constexpr std::size_t small_answer = 1'024;         // larger ones are copied only once
constexpr std::size_t most_reserved = 1 << 20;      // bytes

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

bool is_large(protocol::CommandWords words) noexcept {
  std::size_t bytes = 0;
  for (const std::string_view word : words) bytes += word.size();
  return bytes > largest_in_group;
}

bool may_have_run(const Result<CommandReply>& reply) noexcept {
  return reply || reply.error().outcome == Outcome::unknown ||
         reply.error().reason == Reason::too_large;
}

}  // namespace

CommandBatch::CommandBatch(WorkEnd& end, runtime::Context& context, Commands commands,
                           const Admission& admission, std::vector<sheaf::Command> owned)
    : end_(end),
      context_(context),
      owned_(std::move(owned)),
      commands_(commands),
      admission_(admission),
      most_(context.config().max_in_flight),
      states_(commands.size(), State::fresh),
      replies_(commands.size(), CommandReply()) {
  std::size_t texts = 0;
  for (const sheaf::Command& command : commands) texts += count_texts(command);
  texts_.reserve(texts);  // views of its parts stay valid
  described_.reserve(commands.size());
  for (const sheaf::Command& command : commands) described_.push_back(add_texts(command, texts_));
}

void CommandBatch::start(Now now) {
  if (!find_homes()) homes_.clear();
  answers_.resize(homes_.size());
  go_on(now);
}

// False if the commands cannot be grouped. With several connections to a node, each key has one of
// them, whatever it shares a request with.
bool CommandBatch::find_homes() {
  if (!owned_.empty() || commands_.size() < 2 || context_.config().pool_max != 1) return false;
  cluster::CommandRouter& router = context_.path().commands();
  epoch_ = context_.path().cluster().topology().epoch();
  homes_.reserve(commands_.size());
  for (std::size_t place = 0; place < commands_.size(); ++place) {
    const auto& [words, keys] = described_[place];
    if (!commands_[place].node().empty() || is_large(words)) return false;
    if (check_words(commands_[place], context_.config())) return false;
    const auto home = router.home_of(words, keys);
    if (!home) return false;
    homes_.push_back(*home);
  }
  return true;
}

void CommandBatch::cancel(Now now) {
  runtime::Path& path = context_.path();
  path.loop().forget(*this);
  cancelled_ = true;
  starting_ = true;  // commands that end here do not end the batch yet
  for (Group& group : groups_) path.cluster().cancel(group, now);
  for (std::uint32_t place = 0; place < next_; ++place) {
    if (states_[place] == State::alone) path.commands().cancel(alone_[place], now);
  }
  starting_ = false;
  go_on(now);
}

bool CommandBatch::may_begin() const noexcept {
  if (next_ == commands_.size()) return false;
  if (!again_.empty() || sent_again_ > 0) return false;
  return cancelled_ || next_ - ended_ < most_;
}

// The last thing that it does may be to end the batch.
void CommandBatch::go_on(Now now) {
  starting_ = true;
  do {
    while (may_begin())
      homes_.empty() ? start_alone(next_++, false, now) : join_group(next_++, now);
    start_groups(now);
    if (groups_in_flight_ == 0 && !again_.empty()) start_again(now);
  } while (may_begin());
  starting_ = false;
  if (ended_ == commands_.size()) end_.ended();
}

void CommandBatch::end(std::uint32_t place) {
  SHEAF_CHECK(states_[place] != State::ended);
  states_[place] = State::ended;
  ++ended_;
}

void CommandBatch::give(std::uint32_t place, Result<CommandReply> reply) {
  end(place);
  replies_[place] = std::move(reply);
}

CommandBatch::Out CommandBatch::take() {
  const protocol::ServerCommands& commands = context_.path().commands().commands();
  const std::string_view bytes = bytes_;
  for (std::size_t place = 0; place < answers_.size(); ++place) {
    const Answer& answer = answers_[place];
    if (answer.size == 0) continue;
    auto reply = commands.read(bytes.substr(answer.at, answer.size));
    SHEAF_CHECK(reply);  // the session has read it as a whole
    replies_[place] = std::move(*reply);
  }
  return std::move(replies_);
}

// ---- alone

// A bad command fails alone.
void CommandBatch::start_alone(std::uint32_t place, bool repeated, Now now) {
  if (cancelled_) {
    return give(place, Failure(cancelled_key(admission_.started, now)));
  }
  if (auto error = check_words(commands_[place], context_.config())) {
    return give(place, Failure(std::move(*error)));
  }
  if (alone_ == nullptr) alone_.reset(new PassedRequest[commands_.size()]);
  PassedRequest& request = alone_[place];
  request.describe(commands_[place], described_[place], admission_);
  request.in_line = true;
  request.sink = this;
  if (repeated) request.is_repeated();
  states_[place] = State::alone;
  if (!homes_.empty()) ++sent_again_;
  context_.path().commands().start(request, now);
}

void CommandBatch::on_done(socket::Request& done, const socket::Completion& completion) {
  if (!done.operation.commands.empty()) {
    on_group_done(static_cast<Group&>(done), completion);
  } else {
    PassedRequest& passed = static_cast<PassedRequest&>(done);
    if (!cancelled_ && passed.goes_again(completion)) {
      return context_.path().commands().start(passed, completion.now);
    }
    give(static_cast<std::uint32_t>(&passed - alone_.get()),
         passed.result(context_, completion, admission_.started));
    if (!homes_.empty()) --sent_again_;
  }
  if (starting_) return;
  if (ended_ == commands_.size()) return end_.ended();
  const bool again = groups_in_flight_ == 0 && !again_.empty();
  if (again || may_begin()) context_.path().loop().defer(*this);
}

// ---- in groups

void CommandBatch::join_group(std::uint32_t place, Now now) {
  if (cancelled_) return start_alone(place, false, now);
  const Home& home = homes_[place];
  if (nodes_.size() <= home.node) nodes_.resize(home.node + 1);
  Node& node = nodes_[home.node];
  if (node.open == nullptr) {
    if (idle_groups_.empty()) idle_groups_.push_back(&groups_.emplace_back());
    node.open = idle_groups_.back();
    idle_groups_.pop_back();
    node.open->places.clear();
    node.open->keys.clear();
    node.open->commands.clear();
  }
  node.open->places.push_back(place);
  node.open->keys.push_back(home.key);
  node.open->commands.push_back(described_[place].words);
  states_[place] = State::grouped;
  if (node.open->places.size() == node.most) start_group(node, now);
}

void CommandBatch::start_groups(Now now) {
  for (Node& node : nodes_) {
    if (node.open != nullptr) start_group(node, now);
  }
}

// If the keys may be on other nodes by now, each command goes alone.
void CommandBatch::start_group(Node& node, Now now) {
  Group& group = *std::exchange(node.open, nullptr);
  node.most = std::min(2 * node.most, largest_group);
  cluster::ClientCluster& cluster = context_.path().cluster();
  const unsigned owner = homes_[group.places.front()].node;
  ++groups_in_flight_;
  group.operation = {};
  group.operation.verb = protocol::Verb::command;
  group.operation.keys = group.keys;
  group.operation.commands = group.commands;
  group.operation.deadline = admission_.deadline;
  group.parent = admission_.parent;
  group.sink = this;
  if (!cluster.scatters(epoch_, owner)) return cluster.start_at(epoch_, owner, group, now);
  socket::Completion nowhere;
  nowhere.outcome = Outcome::not_sent;
  nowhere.now = now;
  on_group_done(group, nowhere);
}

void CommandBatch::on_item(socket::Request& request, std::uint32_t index,
                           const protocol::Reply& reply, Now now) {
  const Group& group = static_cast<Group&>(request);
  SHEAF_CHECK(index < group.places.size());
  const std::uint32_t place = group.places[index];
  if (reply.status == protocol::Status::refused && reply.redirect) {
    states_[place] = State::again;
    again_.push_back({place, std::string(reply.text)});
    return;
  }
  if (reply.status != protocol::Status::refused && reply.value.size() <= small_answer) {
    if (bytes_.empty())
      bytes_.reserve(std::min(commands_.size() * reply.value.size(), most_reserved));
    answers_[place] = {bytes_.size(), static_cast<std::uint32_t>(reply.value.size())};
    bytes_.append(reply.value);
    return end(place);
  }
  give(place, result_of_command(context_, completion_of_item(context_.path(), group, reply, now),
                                homes_[place].only_reads, admission_.started));
}

// Decides about the commands without an answer.
void CommandBatch::on_group_done(Group& group, const socket::Completion& completion) {
  --groups_in_flight_;
  idle_groups_.push_back(&group);
  const bool scatters =
      context_.path().cluster().scatters(epoch_, homes_[group.places.front()].node);
  const bool moved = completion.outcome == Outcome::not_sent && scatters;
  for (const std::uint32_t place : group.places) {
    if (states_[place] != State::grouped) continue;
    SHEAF_CHECK(!completion.answered);  // else each command would have had an item
    const bool only_reads = homes_[place].only_reads;
    const bool repeats = may_go_again(completion, only_reads);
    if (!cancelled_ && (moved || repeats)) {
      states_[place] = State::again;
      again_.push_back({place, {}, repeats});
    } else {
      give(place, result_of_command(context_, completion, only_reads, admission_.started));
    }
  }
}

// All groups have ended.
void CommandBatch::start_again(Now now) {
  auto again = std::exchange(again_, {});
  std::ranges::sort(again, {}, &Again::place);
  const auto overtaken_places = overtaken();
  for (Again& command : again) {
    if (!overtaken_places[command.place]) {
      start_alone(command.place, command.repeated, now);
      continue;
    }
    Error error = runtime::local_error(Outcome::refused, Reason::overtaken,
                                       command.text.append(cluster::overtaken_text));
    error.elapsed = now.mono - admission_.started;
    give(command.place, Failure(std::move(error)));
  }
}

// By place: true if a later command on its key may have been carried out. The order of two commands
// that only read does not matter.
std::vector<bool> CommandBatch::overtaken() const {
  std::vector<bool> overtaken(commands_.size(), false);
  std::unordered_map<std::string_view, bool> later;  // true: one of them writes
  for (std::uint32_t place = next_; place-- > 0;) {
    const Home& home = homes_[place];
    const auto found = later.find(home.key);
    if (states_[place] == State::ended) {
      if (may_have_run(replies_[place])) later[home.key] |= !home.only_reads;
    } else if (found != later.end()) {
      overtaken[place] = found->second || !home.only_reads;
    }
  }
  return overtaken;
}

// ---- calls

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
