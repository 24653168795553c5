#include "bench/fleet.h"

#include <cstdio>
#include <map>
#include <stdexcept>
#include <utility>

#include <sheaf/client.h>

#include "bench/raw_socket.h"

namespace bench {
namespace {

// The number of keys that each thread writes.
constexpr unsigned share_of(unsigned threads) { return threads <= 8 ? 500 : 100; }
static_assert(share_of(8) * 8 <= Data::count && share_of(8) % Data::block == 0);
static_assert(share_of(32) * 32 <= Data::count && share_of(32) % Data::block == 0);

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

// The owners come last, because a cluster's client knows them only once it has been used.
Data::Data(std::vector<Target> servers, std::string uri, const RawWire& wire)
    : servers_(std::move(servers)), uri_(std::move(uri)), wire_(wire) {
  std::map<std::string, unsigned> nodes;
  for (unsigned i = 0; i < servers_.size(); ++i) nodes[list_of({servers_[i]})] = i;
  auto client = sheaf::Client::open(config_of(*this));
  if (!client) throw std::runtime_error(client.error().message());
  std::string value;
  for (unsigned i = 0; i < count; ++i) {
    keys_.push_back(key_of(i));
    make_value(value, keys_.back(), 0);
    const auto stored = client->set(keys_.back(), value);
    if (!stored) throw std::runtime_error(stored.error().message());
  }
  for (const std::string& key : keys_) {
    const auto location = client->locate(key);
    if (!location) throw std::runtime_error(location.error().message());
    owners_.push_back(nodes.at(location->node));
  }
}

std::string list_of(const std::vector<Target>& servers) {
  std::string list;
  for (const Target& server : servers) {
    if (!list.empty()) list += ',';
    list.append(server.host).append(":").append(std::to_string(server.port));
  }
  return list;
}

Turn::Turn(const Data& data, const Job& job, unsigned thread)
    : data_(data), job_(job), share_(share_of(job.threads)), first_(thread * share_), at_(first_) {}

void Turn::advance() {
  if (job_.work == Work::set) {
    at_ = first_ + (at_ - first_ + 1) % share_;
    make_value(value_, data_.key(at_), ++number_);
  } else {
    at_ = (at_ / job_.keys + 1) * job_.keys % Data::count;
  }
}

void Turn::check() const {
  if (number_ == 0) return;
  const std::string_view key = data_.key(at_);
  const RawWire& wire = data_.wire();
  std::string request;
  wire.add_get(request, key);
  std::string reply;
  wire.add_value_head(reply, key);
  reply.append(value_).append("\r\n").append(wire.values_end);
  const Target& owner = data_.servers()[data_.owner(at_)];
  if (ask(owner, request, reply.size()) != reply) wrong_value("after sets", key);
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
