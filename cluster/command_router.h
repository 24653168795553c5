#pragma once

// CommandRouter: sends the user's own commands (Verb::command) to the nodes that they belong to.
// The servers say which words of a command are keys (protocol/server_commands.h). They are asked
// once, when the first command arrives, by one request for all waiting commands (single flight).
//
// | command | input                              | then                                | next     |
// |---------|------------------------------------|-------------------------------------|----------|
// | new     | it must not be passed on           | ends as invalid or unsupported      | ended    |
// | new     | the members or the table are not   | the table is asked for              | waits    |
// |         | known yet, and it needs them       |                                     |          |
// | new     | others wait, and it is `in_line`   |                                     | waits    |
// | new     | anything else                      | is routed: see below                | started  |
// | waits   | the table has arrived, or the last | is routed with what is known        | started  |
// |         | attempt has failed                 |                                     |          |
// | waits   | the deadline, cancel, the end      | ends as not_sent, or as shutdown    | ended    |
// | started | anything                           | as any request                      |          |
//
// A command with keys goes to the owner of the first, as a request for that key, so redirects are
// followed. All its keys must be in one slot, or on one node if there are no slots. A command for a
// certain node goes to that node. A command without keys goes to the first node that is up. If it
// has the answer or the effect of one node only, as FLUSHALL has, it goes to the owner of all keys;
// if there are several owners, it ends as invalid.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/client_cluster.h"
#include "cluster/map_fetcher.h"
#include "protocol/server_commands.h"

namespace sheaf::cluster {

// The submitter sets the operation's words and deadline; the router adds the rest.
class CommandRequest : public Request, public DeadlineHook<CommandRequest> {
 public:
  std::optional<std::span<const std::string_view>> keys;  // as the caller named them
  std::string_view only_node;                             // an identity; empty: the keys decide
  bool in_line = false;                                   // it waits behind commands that wait

  // True if it was routed, and its server says that it changes nothing.
  bool only_reads() const noexcept { return only_reads_; }

 private:
  friend class CommandRouter;
  bool only_reads_ = false;
  std::uint64_t arrival_ = 0;  // the place among the commands that have waited
};

class CommandRouter final : private socket::RequestSink, private socket::TimerSink {
 public:
  // All of them must outlive the router.
  struct Parts {
    ClientCluster& cluster;
    socket::Loop& loop;
    node::EventLog& events;
    const MapFetcher* map = nullptr;  // null: the configuration names the members
  };

  // `patience`: the time for one answer about the commands.
  CommandRouter(const Parts& parts, std::unique_ptr<protocol::ServerCommands> commands,
                std::chrono::nanoseconds patience);
  CommandRouter(const CommandRouter&) = delete;
  CommandRouter& operator=(const CommandRouter&) = delete;

  // The request may end before start() returns. It may be started again after its end.
  void start(CommandRequest& request, Now now);
  // The owner of a command's only key, and what is known of the command.
  struct Home {
    unsigned node = 0;
    bool only_reads = false;
    std::string_view key{};  // a view of a word, or the key that the caller named
  };
  // Where a command would go at once, as long as the topology stays. Nothing if it has not just one
  // key, must wait, or may go to another node than the owner: then only start() knows. `keys`: as
  // the caller named them.
  std::optional<Home> home_of(protocol::CommandWords words,
                              std::optional<std::span<const std::string_view>> keys);
  // As ClientCluster::cancel().
  void cancel(CommandRequest& request, Now now);
  protocol::ServerCommands& commands() noexcept { return *commands_; }

 private:
  struct Concerned {
    std::string command;          // empty: any node may carry it out
    std::vector<unsigned> nodes;  // by index
  };

  void on_done(socket::Request& request, const socket::Completion& completion) override;
  void on_timer(Now now) override;
  bool knows_members() const noexcept { return parts_.map == nullptr || parts_.map->known(); }
  bool must_wait(const CommandRequest& request) const;
  void ask_owner(std::string_view route, Now now);
  void ask_any(Now now);
  void ask(Now now);
  void settle(Now now);
  void route(CommandRequest& request, Now now);
  void route_by_keys(CommandRequest& request, Now now);
  std::string stranger(std::string_view node) const;
  Concerned concerned(const CommandRequest& request) const;
  std::optional<protocol::LocalError> scattered(std::span<const std::string_view> keys) const;
  unsigned any_node() const;
  void end(CommandRequest& request, const protocol::LocalError& error, Now now);

  const Parts parts_;
  const std::unique_ptr<protocol::ServerCommands> commands_;
  const std::chrono::nanoseconds patience_;
  node::EarliestTimer timer_;
  DeadlineHeap<CommandRequest> waiting_;
  std::uint64_t arrivals_ = 0;
  Request question_;
  std::string route_;              // of the question
  unsigned attempts_ = 0;          // to get an answer; 0: no question is in progress
  bool unwilling_ = false;         // a server has answered, but without a table
  Reason reason_ = Reason::other;  // of the problem
  protocol::CommandUse use_;       // of the command that is being routed
  std::string problem_;  // why there is no table; empty if there is one or it was not asked for yet
};

}  // namespace sheaf::cluster
