#pragma once

// A user's own command, as a Work and as calls; see Client::execute and Client::execute_on_all.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/command.h>

#include "client/calls/admit.h"
#include "client/calls/detached.h"
#include "client/calls/work.h"

namespace sheaf::client::calls {

// Why a command is not sent, whatever its server is.
std::optional<Error> check_words(const sheaf::Command& command, const ClusterConfig& config);

// A command's words, and its keys as the caller named them.
struct CommandTexts {
  protocol::CommandWords words;
  std::optional<std::span<const std::string_view>> keys;
};
inline std::size_t count_texts(const sheaf::Command& command) noexcept {
  return command.words().size() + (command.keys() ? command.keys()->size() : 0);
}
// Adds views of the command's texts to `texts`, which must have room for them.
CommandTexts add_texts(const sheaf::Command& command, std::vector<std::string_view>& texts);

// True if the connection was lost with the command on it, and it only reads: it is sent again once.
bool may_go_again(const socket::Completion& completion, bool only_reads) noexcept;
// How a command has ended.
Result<CommandReply> result_of_command(runtime::Context& context,
                                       const socket::Completion& completion, bool only_reads,
                                       Deadline started);

// A command as a request. It is sent again if it only reads and its first connection is lost.
class PassedRequest final : public cluster::CommandRequest {
 public:
  // `texts`: those of the command.
  void describe(const sheaf::Command& command, const CommandTexts& texts,
                const Admission& admission);
  // True once, if the request that has ended so must be started again.
  bool goes_again(const socket::Completion& completion) noexcept {
    return may_go_again(completion, only_reads()) && !std::exchange(repeated_, true);
  }
  // It was sent before, so it is not sent again.
  void is_repeated() noexcept { repeated_ = true; }
  Result<CommandReply> result(runtime::Context& context, const socket::Completion& completion,
                              Deadline started) const {
    return result_of_command(context, completion, only_reads(), started);
  }

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
