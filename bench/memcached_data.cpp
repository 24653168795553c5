#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <sheaf/client.h>

#include "bench/memcached_peers.h"
#include "bench/raw_socket.h"

namespace bench {
namespace {

// Most threads that there are, and so the shares in which keys are written.
constexpr unsigned shares = 8;
constexpr unsigned share = Data::count / shares;

std::string key_of(unsigned number) {
  char text[64];
  std::snprintf(text, sizeof text, "bench/user/%06u/profile", number);
  return text;
}

void make_value(std::string& value, std::string_view key, unsigned long number) {
  value.assign(key).append("#").append(std::to_string(number));
  value.resize(Data::value_size, '.');
}

std::string ask(const Target& server, std::string_view request, std::size_t reply) {
  const RawSocket socket(server);
  socket.send_all(request);
  std::string got(reply, '\0');
  for (std::size_t at = 0; at < reply;) at += socket.read_some(got.data() + at, reply - at);
  return got;
}

}  // namespace

Data::Data(std::vector<Target> servers) : servers_(std::move(servers)) {
  std::map<std::string, unsigned> nodes;
  for (unsigned i = 0; i < servers_.size(); ++i) {
    nodes[servers_[i].host + ":" + std::to_string(servers_[i].port)] = i;
  }
  auto client = sheaf::Client::open(uri());
  if (!client) throw std::runtime_error(client.error().message());
  std::string value;
  for (unsigned i = 0; i < count; ++i) {
    keys_.push_back(key_of(i));
    owners_.push_back(nodes.at(client->locate(keys_.back())->node));
    make_value(value, keys_.back(), 0);
    const auto stored = client->set(keys_.back(), value);
    if (!stored) throw std::runtime_error(stored.error().message());
  }
}

std::string Data::uri() const {
  std::string uri = "memcached://";
  for (const Target& server : servers_) {
    if (uri.back() != '/') uri += ',';
    uri += server.host + ":" + std::to_string(server.port);
  }
  return uri + "?ring=libmemcached-weighted";
}

Turn::Turn(const Data& data, const Job& job, unsigned thread)
    : data_(data), job_(job), first_(thread % shares * share), at_(first_) {}

void Turn::advance() {
  if (job_.work == Work::set) {
    at_ = first_ + (at_ - first_ + 1) % share;
    make_value(value_, data_.key(at_), ++number_);
  } else {
    at_ = (at_ / job_.keys + 1) * job_.keys % Data::count;
  }
}

void Turn::check() const {
  if (number_ == 0) return;
  const std::string key(data_.key(at_));
  const std::string reply =
      "VALUE " + key + " 0 " + std::to_string(Data::value_size) + "\r\n" + value_ + "\r\nEND\r\n";
  const Target& owner = data_.servers()[data_.owner(at_)];
  if (ask(owner, "get " + key + "\r\n", reply.size()) != reply) wrong_value("after sets", key);
}

Round run_job(const Data& data, const Job& job, std::chrono::milliseconds length,
              const Act& operation, unsigned weight, const Act& finish) {
  std::vector<Turn> turns;
  for (unsigned thread = 0; thread < job.threads; ++thread) turns.emplace_back(data, job, thread);
  const Round round = measure(
      job.threads, length, [&](unsigned thread, const std::function<bool()>& stop, Samples& out) {
        Turn& turn = turns[thread];
        while (!stop()) {
          turn.advance();
          const auto start = std::chrono::steady_clock::now();
          operation(thread, turn);
          out.insert(out.end(), weight, std::chrono::steady_clock::now() - start);
        }
        if (finish) finish(thread, turn);
      });
  for (const Turn& turn : turns) turn.check();
  return round;
}

void wrong_value(std::string_view who, std::string_view key) {
  throw std::runtime_error(std::string(who) + ": wrong value of " + std::string(key));
}

}  // namespace bench
