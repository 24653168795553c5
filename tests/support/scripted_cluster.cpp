#include "tests/support/scripted_cluster.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "protocol/resp/wire/hash_slot.h"
#include "protocol/resp/wire/reply_reader.h"
#include "tests/protocol/resp/live_replies.h"

namespace sheaf::test {
namespace {

using protocol::resp::hash_slot;
using protocol::resp::ReplyReader;
using protocol::resp::slot_count;

// Opens a socket that listens at an address, on `port` or, if that is 0, on any port, which it
// stores there. Returns -1 on failure.
int listen_at(const std::string& host, std::uint16_t& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return -1;
  const int descriptor = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool listens = descriptor >= 0 &&
                       ::bind(descriptor, found->ai_addr, found->ai_addrlen) == 0 &&
                       ::listen(descriptor, 64) == 0;
  ::freeaddrinfo(found);
  sockaddr_in6 address{};  // the port is at the same place in both kinds of address
  socklen_t size = sizeof address;
  if (!listens || ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    if (descriptor >= 0) ::close(descriptor);
    return -1;
  }
  port = ntohs(address.sin6_port);
  return descriptor;
}

// The greeting of a member of a cluster.
std::string hello() {
  std::string text(protocol::resp::live::redis_hello_resp3);
  constexpr std::string_view alone = "$10\r\nstandalone";
  return text.replace(text.find(alone), alone.size(), "$7\r\ncluster");
}

bool begins_with(std::string_view command, std::string_view words) {
  return command.starts_with(words) &&
         (command.size() == words.size() || command[words.size()] == ' ');
}

// Commands that clients send of their own accord.
bool is_housekeeping(std::string_view command) {
  constexpr std::array own{"HELLO", "AUTH", "CLIENT", "INFO", "PING", "ASKING", "CLUSTER"};
  return std::ranges::any_of(own, [&](const char* word) { return begins_with(command, word); });
}

std::string bulk_text(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

}  // namespace

ScriptedCluster::ScriptedCluster(const Hosts& members, const Hosts& outsiders, bool one_port)
    : members_(members.size()) {
  Hosts hosts = members;
  hosts.insert(hosts.end(), outsiders.begin(), outsiders.end());
  for (const std::string& host : hosts) {
    Server server{.host = host};
    if (one_port && !servers_.empty()) server.port = servers_.front().port;
    server.listener = listen_at(server.host, server.port);
    if (server.listener < 0) throw std::runtime_error("no port at " + server.host);
    server.epoch = servers_.size() + 1;
    servers_.push_back(std::move(server));
  }
  for (std::size_t i = 0; i < members_; ++i) owners_.resize(first_slot(i + 1), i);
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { serve(); });
}

ScriptedCluster::~ScriptedCluster() {
  ::eventfd_write(wake_, 1);
  thread_.join();
  ::close(wake_);
  for (const Server& server : servers_) ::close(server.listener);
  for (const Connection& connection : connections_) ::close(connection.descriptor);
}

bool ScriptedCluster::has_address(const std::string& host) {
  std::uint16_t port = 0;
  const int descriptor = listen_at(host, port);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
}

std::string ScriptedCluster::address(std::size_t server) const {
  return join_host_port(host(server), port(server));
}

std::string ScriptedCluster::id(std::size_t server) {
  return std::string(39, 'a') + static_cast<char>('0' + server);
}

std::string ScriptedCluster::uri(const std::vector<std::size_t>& seeds) const {
  std::string uri = "redis://";
  for (const std::size_t seed : seeds) {
    if (!uri.ends_with('/')) uri += ',';
    uri += address(seed);
  }
  return uri;
}

// ---- slots

std::uint16_t ScriptedCluster::first_slot(std::size_t member) const {
  return static_cast<std::uint16_t>(slot_count * member / members_);
}

std::string ScriptedCluster::key(std::size_t member, unsigned number) const {
  for (unsigned i = 0;; ++i) {
    std::string key = "k" + std::to_string(i);
    const std::uint16_t slot = hash_slot(key);
    const bool belongs = slot >= first_slot(member) && slot < first_slot(member + 1);
    if (belongs && number-- == 0) return key;
  }
}

void ScriptedCluster::give(std::uint16_t slot, std::size_t server) {
  const std::lock_guard lock(mutex_);
  std::uint64_t newest = 0;
  for (const Server& each : servers_) newest = std::max(newest, each.epoch);
  owners_[slot] = server;
  servers_[server].epoch = newest + 1;
}

void ScriptedCluster::announce(std::size_t member, std::string name) {
  const std::lock_guard lock(mutex_);
  servers_.at(member).name = std::move(name);
}

void ScriptedCluster::migrate(std::uint16_t slot, std::size_t server) {
  const std::lock_guard lock(mutex_);
  migrating_[slot] = server;
}

// ---- scripts

void ScriptedCluster::script(std::size_t server, std::string command, std::vector<Part> answer,
                             unsigned times) {
  const std::lock_guard lock(mutex_);
  scripts_.push_back({server, std::move(command), std::move(answer), times});
}

void ScriptedCluster::forget_scripts() {
  const std::lock_guard lock(mutex_);
  scripts_.clear();
}

// ---- what came

std::vector<ScriptedCluster::Received> ScriptedCluster::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

std::vector<std::string> ScriptedCluster::requests(std::size_t server) const {
  std::vector<std::string> requests;
  for (Received& each : log()) {
    if (each.server != server || is_housekeeping(each.command)) continue;
    requests.push_back(std::move(each.command));
  }
  return requests;
}

std::size_t ScriptedCluster::count(std::size_t server, std::string_view command) const {
  const std::vector<Received> all = log();
  return static_cast<std::size_t>(std::ranges::count_if(all, [&](const Received& each) {
    return (server == anyone || each.server == server) && begins_with(each.command, command);
  }));
}

std::vector<std::vector<std::string>> ScriptedCluster::conversations(std::size_t server) const {
  std::map<std::uint64_t, std::vector<std::string>> by_connection;
  for (Received& each : log()) {
    if (each.server == server) by_connection[each.connection].push_back(std::move(each.command));
  }
  std::vector<std::vector<std::string>> all;
  for (auto& [number, commands] : by_connection) all.push_back(std::move(commands));
  return all;
}

// ---- the servers

void ScriptedCluster::serve() {
  for (;;) {
    std::vector<pollfd> polled{{wake_, POLLIN, 0}};
    for (const Server& server : servers_) polled.push_back({server.listener, POLLIN, 0});
    for (const Connection& each : connections_) polled.push_back({each.descriptor, POLLIN, 0});
    ::poll(polled.data(), polled.size(), wait_time());
    if (polled[0].revents != 0) return;
    for (std::size_t i = connections_.size(); i-- > 0;) {
      Connection& connection = connections_[i];
      const bool readable = polled[1 + servers_.size() + i].revents != 0;
      if ((!readable || receive(connection)) && send_due(connection)) continue;
      ::close(connection.descriptor);
      connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (polled[1 + i].revents != 0) accept(i);
    }
  }
}

void ScriptedCluster::accept(std::size_t server) {
  const int descriptor = ::accept4(servers_[server].listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor < 0) return;
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  connections_.push_back({.descriptor = descriptor, .server = server, .number = ++connected_});
}

// The time until the next answer is due, in ms; -1: forever.
int ScriptedCluster::wait_time() const {
  Clock::time_point next = Clock::time_point::max();
  for (const Connection& each : connections_) {
    if (!each.output.empty()) next = std::min(next, each.output.front().at);
  }
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 10'000));
}

bool ScriptedCluster::send_due(Connection& connection) {
  while (!connection.output.empty() && connection.output.front().at <= Clock::now()) {
    const Part part = std::move(connection.output.front().part);
    connection.output.pop_front();
    std::string_view rest = part.bytes;
    while (!rest.empty()) {
      const ssize_t sent = ::send(connection.descriptor, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    if (part.close) return false;
  }
  return true;
}

bool ScriptedCluster::receive(Connection& connection) {
  std::array<char, 64 * 1024> buffer{};
  const ssize_t size = ::recv(connection.descriptor, buffer.data(), buffer.size(), 0);
  if (size <= 0) return false;
  connection.input.append(buffer.data(), static_cast<std::size_t>(size));
  std::string_view rest = connection.input;
  ReplyReader reader;
  while (!rest.empty() && reader.read(rest) == ReplyReader::Progress::complete) {
    std::vector<std::string> words;
    for (const auto word : reader.root()) words.emplace_back(word.text());
    on_command(connection, words);
    rest.remove_prefix(reader.size());
  }
  connection.input.erase(0, connection.input.size() - rest.size());
  return true;
}

void ScriptedCluster::on_command(Connection& connection, const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) {
    command.append(command.empty() ? "" : " ").append(printable(word, 100));
  }
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  log_.push_back({connection.server, connection.number, command, now});
  Clock::time_point at = connection.output.empty() ? now : connection.output.back().at;
  for (Part& part : answer_to(connection.server, words, command)) {
    at += part.delay;
    connection.output.push_back({std::move(part), at});
  }
}

std::vector<ScriptedCluster::Part> ScriptedCluster::answer_to(std::size_t server,
                                                              const std::vector<std::string>& words,
                                                              const std::string& command) {
  for (Script& script : scripts_) {
    const bool fits = script.server == anyone || script.server == server;
    if (!fits || script.times == 0 || !begins_with(command, script.command)) continue;
    if (script.times != always) --script.times;
    return script.answer;
  }
  const std::string& verb = words.front();
  if (verb == "HELLO") return {{hello()}};
  if (verb == "PING") return {{"+PONG\r\n"}};
  if (command == "CLUSTER NODES") return {{bulk_text(nodes_text(server))}};
  if (verb == "CLUSTER") return {{"-ERR unknown subcommand 'x'. Try CLUSTER HELP.\r\n"}};
  if (verb == "GET") return {{bulk_text(std::to_string(server) + "/" + words.at(1))}};
  if (verb == "DEL") return {{":1\r\n"}};
  return {{"+OK\r\n"}};
}

std::string ScriptedCluster::nodes_text(std::size_t server) const {
  std::string text;
  for (std::size_t i = 0; i < members_; ++i) {
    const std::string port = std::to_string(servers_[i].port);
    text += id(i) + " " + servers_[i].host + ":" + port + "@0";
    text += (servers_[i].name.empty() ? "" : ",") + servers_[i].name + " ";
    text += i == server ? "myself,master" : "master";
    text += " - 0 0 " + std::to_string(servers_[i].epoch) + " connected";
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
      if (owners_[slot] != i || (slot > 0 && owners_[slot - 1] == i)) continue;
      std::size_t last = slot;
      while (last + 1 < slot_count && owners_[last + 1] == i) ++last;
      text += " " + std::to_string(slot) + "-" + std::to_string(last);
    }
    for (const auto& [slot, to] : migrating_) {
      if (i != server || owners_[slot] != i) continue;
      text += " [" + std::to_string(slot) + "->-" + id(to) + "]";
    }
    text += "\n";
  }
  return text;
}

}  // namespace sheaf::test
