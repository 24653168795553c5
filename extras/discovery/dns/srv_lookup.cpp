// Pure: no socket, clock, entropy, thread or callback.

#include "extras/discovery/dns/srv_lookup.h"

#include <algorithm>
#include <utility>

#include "base/local_error.h"

namespace sheaf::discovery::dns {
namespace {

// How long a server may take to answer in the first round; doubled in each further round.
constexpr std::chrono::seconds first_wait(1);
constexpr unsigned max_doublings = 6;

Error answered(const std::string& what) {
  return local_error(Outcome::refused, Reason::other, what);
}

std::string words_of(ResponseCode code) {
  switch (code) {
    case ResponseCode::format_error:
      return "format error";
    case ResponseCode::server_failure:
      return "server failure";
    case ResponseCode::not_implemented:
      return "not implemented";
    case ResponseCode::refused:
      return "refused";
    default:
      return "code " + std::to_string(static_cast<unsigned>(code));
  }
}

}  // namespace

std::optional<SrvLookup::Attempt> SrvLookup::next(Deadline now) {
  if (!over_ && now >= deadline_) {
    const std::string last = error_ ? "; before that: " + error_->text : std::string();
    end(local_error(Outcome::unknown, Reason::timed_out,
                    "no name server has answered in time" + last));
  }
  if (!over_ && server_ == servers_) {
    if (!silence_) end(std::move(*error_));
    server_ = 0;
    silence_ = false;
    ++round_;
  }
  if (over_) return std::nullopt;
  const Deadline wait = first_wait * (1u << std::min(round_, max_doublings));
  return Attempt{server_, tcp_, std::min(deadline_, now + wait)};
}

void SrvLookup::on_answer(SrvAnswer answer) {
  if (answer.truncated && !tcp_) {
    tcp_ = true;
    return;
  }
  if (answer.truncated) return go_on(answered("the answer does not fit into a message of TCP"));
  if (answer.code == ResponseCode::no_such_name) return end(answered("there is no such name"));
  if (answer.code != ResponseCode::no_error) {
    return go_on(answered("the name server answers: " + words_of(answer.code)));
  }
  if (answer.records.empty()) return end(answered("the name has no SRV record"));
  records_ = std::move(answer.records);
  over_ = true;
}

void SrvLookup::on_malformed() {
  go_on(local_error(Outcome::refused, Reason::protocol_error,
                    "the answer of the name server cannot be read"));
}

void SrvLookup::on_silence() {
  silence_ = true;
  go_on(local_error(Outcome::unknown, Reason::timed_out, "the name server did not answer"));
}

void SrvLookup::on_failure(const std::string& why) {
  go_on(local_error(Outcome::not_sent, Reason::connect_failed,
                    "the name server cannot be asked: " + why));
}

Result<std::vector<SrvRecord>> SrvLookup::take() {
  if (!records_.empty()) return std::move(records_);
  return Failure(std::move(*error_));
}

void SrvLookup::end(Error why) {
  error_ = std::move(why);
  over_ = true;
}

void SrvLookup::go_on(Error why) {
  error_ = std::move(why);
  ++server_;
  tcp_ = false;
}

}  // namespace sheaf::discovery::dns
