#pragma once

// Many commands of a user as one Work; see Client::execute_many.
//
// | batch                                            | its commands                             |
// |--------------------------------------------------|------------------------------------------|
// | a caller waits for it, and each command has one  | in groups: those of a node share         |
// | key, whose owner is known and up                 | requests, in the order given             |
// | any other                                        | each is a request (command_call.h)       |
//
// A command of a group may have to be sent once more: a server has redirected it, or it only reads
// and its connection was lost. Then it is sent alone, once all groups have ended, and no other
// command starts until it has. If a later command on its key may have been carried out by then, it
// ends as `overtaken` instead. An asynchronous batch has no groups, because its caller may start
// other operations on the key meanwhile (docs/design/0060-many-commands-in-one-call.md).
//
// Requests start in the order of their commands, so that those of one key are queued in that order.
// At most `max_in_flight` commands have started and not ended; when one ends, others start at the
// end of the loop's turn: while the router releases commands that waited for its table, a new one
// would overtake them.
//
// Thread rule: as for Work.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/calls/command_call.h"

namespace sheaf::client::calls {

class CommandBatch final : private socket::RequestSink, private socket::Deferred {
 public:
  using Commands = std::span<const sheaf::Command>;
  using Out = std::vector<Result<CommandReply>>;

  // The commands live until the end. An asynchronous batch has them in `owned`.
  CommandBatch(WorkEnd& end, runtime::Context& context, Commands commands,
               const Admission& admission, std::vector<sheaf::Command> owned = {});

  void start(Now now);
  void cancel(Now now);
  // The caller, not the thread that drives for others, makes the replies of small answers.
  Out take();

 private:
  using Home = cluster::CommandRouter::Home;
  enum class State : std::uint8_t { fresh, grouped, again, alone, ended };
  // Commands that share a request.
  struct Group final : cluster::Request {
    std::vector<std::uint32_t> places;
    std::vector<std::string_view> keys;
    std::vector<protocol::CommandWords> commands;
  };
  // The groups of a node. Each is larger than the one before, as the bursts of a ClientSocket are:
  // an idle server gets work early.
  struct Node {
    Group* open = nullptr;
    std::uint32_t most = 16;
  };
  // A small answer, in bytes_.
  struct Answer {
    std::size_t at = 0;
    std::uint32_t size = 0;  // 0: none
  };
  // A command to be sent once more.
  struct Again {
    std::uint32_t place = 0;
    std::string text;  // what the server said
    bool repeated = false;
  };

  bool find_homes();
  void go_on(Now now);
  void run_deferred(Now now) override { go_on(now); }
  bool may_begin() const noexcept;

  // Alone.
  void start_alone(std::uint32_t place, bool repeated, Now now);
  // In groups.
  void join_group(std::uint32_t place, Now now);
  void start_group(Node& node, Now now);
  void start_groups(Now now);
  void start_again(Now now);
  std::vector<bool> overtaken() const;

  void on_item(socket::Request& request, std::uint32_t index, const protocol::Reply& reply,
               Now now) override;
  void on_done(socket::Request& request, const socket::Completion& completion) override;
  void on_group_done(Group& group, const socket::Completion& completion);
  void end(std::uint32_t place);
  void give(std::uint32_t place, Result<CommandReply> reply);

  WorkEnd& end_;
  runtime::Context& context_;
  const std::vector<sheaf::Command> owned_;
  const Commands commands_;
  const Admission admission_;
  const std::size_t most_;  // that have started and not ended
  std::vector<std::string_view> texts_;
  // By the place of the command.
  std::vector<CommandTexts> described_;  // views of texts_
  std::vector<Home> homes_;              // empty: no groups
  std::vector<State> states_;
  std::unique_ptr<PassedRequest[]> alone_;  // null: none was sent alone
  std::vector<Answer> answers_;             // empty: no groups
  Out replies_;
  std::string bytes_;

  std::deque<Group> groups_;
  std::vector<Group*> idle_groups_;
  std::vector<Node> nodes_;  // by index
  std::uint64_t epoch_ = 0;  // of the topology of the homes
  std::vector<Again> again_;
  std::size_t groups_in_flight_ = 0;
  std::size_t sent_again_ = 0;  // and not ended
  std::uint32_t next_ = 0;      // the first command that has not started
  std::size_t ended_ = 0;
  bool starting_ = false;
  bool cancelled_ = false;
};

CommandBatch::Out execute_many(runtime::Context& context, CommandBatch::Commands commands,
                               const CommandOptions& options);
Call<CommandBatch::Out> execute_many_later(Origin origin, std::vector<sheaf::Command> commands,
                                           const CommandOptions& options);

}  // namespace sheaf::client::calls
