#pragma once

// Many commands of a user as one Work; see Client::execute_many.
//
// The commands start in the order given, so that the requests of one key are queued in that order.
// At most `max_in_flight` of them have started and not ended; when one ends, others start at the
// end of the loop's turn: while the router releases commands that waited for its table, a new one
// would overtake them.
//
// Thread rule: as for Work.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "client/calls/command_call.h"

namespace sheaf::client::calls {

class CommandBatch final : private socket::RequestSink, private socket::Deferred {
 public:
  using Commands = std::span<const sheaf::Command>;
  using Out = std::vector<Result<CommandReply>>;

  // The commands live until the end: `owned` may hold them.
  CommandBatch(WorkEnd& end, runtime::Context& context, Commands commands,
               const Admission& admission, std::vector<sheaf::Command> owned = {});

  void start(Now now) { go_on(now); }
  void cancel(Now now);
  Out take() { return std::move(replies_); }

 private:
  void go_on(Now now);
  void start_next(Now now);
  void fail(std::size_t place, Error error);
  void run_deferred(Now now) override { go_on(now); }
  void on_done(socket::Request& request, const socket::Completion& completion) override;

  WorkEnd& end_;
  runtime::Context& context_;
  const std::vector<sheaf::Command> owned_;
  const Commands commands_;
  const Deadline started_;
  const std::size_t most_;                // that have started and not ended
  std::vector<std::string_view> words_;   // of all commands, then their keys
  std::unique_ptr<PassedRequest[]> all_;  // by the place of the command
  Out replies_;
  std::size_t next_ = 0;  // the first command that has not started
  std::size_t ended_ = 0;
  bool starting_ = false;
  bool cancelled_ = false;
};

CommandBatch::Out execute_many(runtime::Context& context, CommandBatch::Commands commands,
                               const CommandOptions& options);
Call<CommandBatch::Out> execute_many_later(Origin origin, std::vector<sheaf::Command> commands,
                                           const CommandOptions& options);

}  // namespace sheaf::client::calls
