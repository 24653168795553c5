#pragma once

// A user's own command, as a Work and as calls; see Client::execute and Client::execute_on_all.

#include <optional>
#include <string_view>
#include <vector>

#include <sheaf/command.h>

#include "client/calls/admit.h"
#include "client/calls/detached.h"
#include "client/calls/work.h"

namespace sheaf::client::calls {

// One command. It is sent again if it only reads and its first connection is lost.
class PassedCommand final : private socket::RequestSink {
 public:
  using Out = Result<CommandReply>;

  PassedCommand(WorkEnd& end, runtime::Context& context, sheaf::Command command,
                const Admission& admission);

  void start(Now now) { context_.path().commands().start(request_, now); }
  void cancel(Now now) { context_.path().commands().cancel(request_, now); }
  Out take() { return std::move(*out_); }

 private:
  void on_done(socket::Request& request, const socket::Completion& completion) override;
  bool goes_again(const socket::Completion& completion) const;
  Out result(const socket::Completion& completion) const;

  WorkEnd& end_;
  runtime::Context& context_;
  const sheaf::Command command_;
  const Deadline started_;
  std::vector<std::string_view> words_;  // views of command_
  std::vector<std::string_view> keys_;
  cluster::CommandRequest request_;
  bool repeated_ = false;
  std::optional<Out> out_;
};

Result<CommandReply> execute(runtime::Context& context, sheaf::Command command,
                             const CommandOptions& options);
Call<Result<CommandReply>> execute_later(Origin origin, sheaf::Command command,
                                         const CommandOptions& options);
Result<std::vector<NodeReply>> execute_on_all(runtime::Context& context, sheaf::Command command,
                                              const CommandOptions& options);
Call<Result<std::vector<NodeReply>>> execute_on_all_later(Origin origin, sheaf::Command command,
                                                          const CommandOptions& options);

}  // namespace sheaf::client::calls
