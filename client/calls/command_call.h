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

// Why a command is not sent, whatever its server is.
std::optional<Error> check_words(const sheaf::Command& command, const ClusterConfig& config);

// A command as a request. It is sent again if it only reads and its first connection is lost.
class PassedRequest final : public cluster::CommandRequest {
 public:
  // Adds views of the command's words and keys to `texts`, which must have room for them.
  void describe(const sheaf::Command& command, const Admission& admission,
                std::vector<std::string_view>& texts);
  // True once, if the request that has ended so must be started again.
  bool goes_again(const socket::Completion& completion);
  Result<CommandReply> result(runtime::Context& context, const socket::Completion& completion,
                              Deadline started) const;

 private:
  bool repeated_ = false;
};

// One command.
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

  WorkEnd& end_;
  runtime::Context& context_;
  const sheaf::Command command_;
  const Deadline started_;
  std::vector<std::string_view> texts_;  // views of command_
  PassedRequest request_;
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
