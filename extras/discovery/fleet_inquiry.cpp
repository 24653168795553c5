// Pure: no socket, clock, entropy, thread or callback.

#include "extras/discovery/fleet_inquiry.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace sheaf::discovery {
namespace {

constexpr std::string_view request = "config get cluster\r\n";
constexpr std::string_view older_request = "get AmazonElastiCache:cluster\r\n";
constexpr std::string_view head = "CONFIG cluster ";
constexpr std::string_view older_head = "VALUE AmazonElastiCache:cluster ";
constexpr std::string_view tail = "\r\nEND\r\n";
// The limit of a head, and of an error, which is repeated only in part.
constexpr std::size_t max_line = 1'024;

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<FleetServer> read_server(std::string_view word) {
  if (std::ranges::count(word, '|') != 2) return std::nullopt;
  const std::string_view host = take_until(word, '|');
  take_until(word, '|');
  const auto port = parse_decimal(word);
  if (host.empty() || !port || *port == 0 || *port > 65'535) return std::nullopt;
  return FleetServer{std::string(host), static_cast<std::uint16_t>(*port)};
}

}  // namespace

std::expected<Fleet, std::string> Fleet::parse(std::string_view value) {
  const auto version = parse_decimal(without_return(take_until(value, '\n')));
  if (!version) return std::unexpected("the list of servers does not begin with its version");
  Fleet fleet{*version, {}};
  for (std::string_view line = without_return(take_until(value, '\n')); !line.empty();) {
    const std::string_view word = take_until(line, ' ');
    if (word.empty()) continue;
    if (fleet.servers.size() == FleetInquiry::max_servers) {
      return std::unexpected("the list has more than 1,000 servers");
    }
    auto server = read_server(word);
    if (!server) {
      return std::unexpected("server " + std::to_string(fleet.servers.size() + 1) +
                             " of the list is not HOST|ADDRESS|PORT: " + printable(word));
    }
    fleet.servers.push_back(std::move(*server));
  }
  if (fleet.servers.empty()) return std::unexpected("the list has no server");
  return fleet;
}

std::string_view FleetInquiry::take_output() {
  if (std::exchange(asked_, true)) return {};
  return older_ ? older_request : request;
}

void FleetInquiry::on_input(std::string_view bytes) {
  // Input that arrives before the question was asked is ignored.
  while (asked_ && !over() && !bytes.empty()) {
    // Never more than the longest answer.
    const std::size_t room = max_value + tail.size() + max_line - input_.size();
    const std::string_view part = bytes.substr(0, room);
    input_.append(part);
    bytes.remove_prefix(part.size());
    while (asked_ && !over() && step()) {
    }
  }
}

// True if the buffered input may contain more to read.
bool FleetInquiry::step() { return size_ ? read_value() : read_head(); }

bool FleetInquiry::read_head() {
  const std::size_t end = input_.find('\n');
  if (end == input_.npos || end > max_line) {
    if (input_.size() > max_line) end_malformed("a line of the answer has more than 1,024 bytes");
    return false;
  }
  const std::string line(without_return(std::string_view(input_).substr(0, end)));
  input_.erase(0, end + 1);
  std::string_view rest = line;
  const std::string_view wanted = older_ ? older_head : head;
  if (!rest.starts_with(wanted)) {
    ask_again(line);
    return false;
  }
  rest.remove_prefix(wanted.size());
  const auto flags = parse_decimal(take_until(rest, ' '));
  const auto size = parse_decimal(rest);
  if (!flags || !size) return end_malformed("the answer has no size: " + printable(line)), false;
  if (*size > max_value) return end_malformed("the list has more than 64 KiB"), false;
  size_ = static_cast<std::size_t>(*size);
  return true;
}

bool FleetInquiry::read_value() {
  if (input_.size() < *size_ + tail.size()) return false;
  if (std::string_view(input_).substr(*size_, tail.size()) != tail) {
    end_malformed("the list is not followed by END");
    return false;
  }
  auto fleet = Fleet::parse(std::string_view(input_).substr(0, *size_));
  if (!fleet) {
    end_malformed(std::move(fleet.error()));
  } else {
    result_ = std::move(*fleet);
  }
  return false;
}

void FleetInquiry::ask_again(std::string_view answer) {
  const bool known = answer == "END" || answer == "ERROR" || answer.starts_with("CLIENT_ERROR") ||
                     answer.starts_with("SERVER_ERROR");
  if (!known) return end_malformed("the answer does not fit the question: " + printable(answer));
  if (older_) {
    result_ = std::unexpected(Refusal{
        true, "the server is not a configuration endpoint; it answers: " + printable(answer)});
    return;
  }
  older_ = true;
  asked_ = false;
  input_.clear();
}

void FleetInquiry::end_malformed(std::string text) {
  result_ = std::unexpected(Refusal{false, std::move(text)});
}

}  // namespace sheaf::discovery
