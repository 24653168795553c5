// The limits: the shortest requests that the servers take, over blocking sockets, and replies of a
// known size, compared with the expected ones. No client that waits in the kernel for its answers
// can be faster.

#include <memory>
#include <stdexcept>

#include "bench/fleet.h"
#include "bench/raw_socket.h"

namespace bench {
namespace {

bool is_list(const Job& job) { return job.work == Work::get_many || job.work == Work::execute; }

// One thread's connections.
class Connections {
 public:
  explicit Connections(const Data& data)
      : data_(data), wire_(data.wire()), parts_(data.servers().size()) {
    std::string head;
    wire_.add_value_head(head, data.key(0));
    head_size_ = head.size();
    for (const Target& server : data.servers()) {
      sockets_.push_back(std::make_unique<RawSocket>(server));
    }
  }

  void one_by_one(const Job& job, const Turn& turn) {
    for (unsigned i = turn.index(); i < turn.index() + job.keys; ++i) {
      job.work == Work::set ? add_set(i, turn.value()) : add_get(i);
      exchange(job.work);
    }
  }
  void pipelined(const Job& job, const Turn& turn) {
    const unsigned keys = is_list(job) ? job.keys : Data::block;
    const unsigned first = turn.index() / keys * keys;
    for (unsigned i = first; i < first + keys; ++i) {
      if (job.work == Work::set) {
        add_set(i, turn.value());
      } else if (job.work == Work::get) {
        add_get(i);
      } else {
        add_to_list(i);
      }
    }
    if (is_list(job)) end_lists();
    exchange(job.work);
  }

 private:
  // The request to one server, and the keys that it must answer.
  struct Part {
    std::string request;
    std::vector<unsigned> keys;
    bool list = false;  // one end for all keys
  };

  Part& part_of(unsigned i) {
    Part& part = parts_[data_.owner(i)];
    part.keys.push_back(i);
    return part;
  }
  void add_get(unsigned i) { wire_.add_get(part_of(i).request, data_.key(i)); }
  // Sets the key to the turn's value, prefixed with this key.
  void add_set(unsigned i, std::string_view value) {
    const std::string_view key = data_.key(i);
    value_.assign(key).append(value.substr(key.size()));
    wire_.add_set(part_of(i).request, key, value_);
  }
  void add_to_list(unsigned i) {
    Part& part = part_of(i);
    if (part.request.empty()) part.request = wire_.list_begin;
    wire_.add_to_list(part.request, data_.key(i));
    part.list = true;
  }
  void end_lists() {
    for (Part& part : parts_) {
      if (part.list) part.request += wire_.list_end;
    }
  }

  void exchange(Work work) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].keys.empty()) sockets_[i]->send_all(parts_[i].request);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (part.keys.empty()) continue;
      work == Work::set ? take_stored(part, *sockets_[i]) : take_values(part, *sockets_[i]);
      part.request.clear();
      part.keys.clear();
      part.list = false;
    }
  }
  std::string_view take(std::size_t size, const RawSocket& socket) {
    if (input_.size() < size) input_.resize(size);
    for (std::size_t at = 0; at < size;) at += socket.read_some(input_.data() + at, size - at);
    return std::string_view(input_).substr(0, size);
  }
  void take_stored(const Part& part, const RawSocket& socket) {
    std::string_view rest = take(part.keys.size() * wire_.stored.size(), socket);
    for (const unsigned key : part.keys) {
      if (!rest.starts_with(wire_.stored)) wrong_value("raw", data_.key(key));
      rest.remove_prefix(wire_.stored.size());
    }
  }
  void take_values(const Part& part, const RawSocket& socket) {
    const std::size_t reply = head_size_ + Data::value_size + 2;
    const std::size_t end = wire_.values_end.size();
    const std::size_t ends = part.list ? 1 : part.keys.size();
    std::string_view rest = take(part.keys.size() * reply + ends * end, socket);
    for (const unsigned i : part.keys) {
      if (!Data::is_value_of(rest.substr(head_size_, Data::value_size), data_.key(i))) {
        wrong_value("raw", data_.key(i));
      }
      rest.remove_prefix(part.list ? reply : reply + end);
    }
  }

  const Data& data_;
  const RawWire& wire_;
  std::size_t head_size_ = 0;
  std::vector<std::unique_ptr<RawSocket>> sockets_;
  std::vector<Part> parts_;
  std::string value_;
  std::string input_;
};

}  // namespace

Contestant fleet_raw(const Data& data, const Job& job, bool pipelined) {
  const auto all = std::make_shared<std::vector<std::unique_ptr<Connections>>>();
  for (unsigned i = 0; i < job.threads; ++i) all->push_back(std::make_unique<Connections>(data));
  const unsigned weight = pipelined && !is_list(job) ? Data::block : 1;
  return {pipelined ? "raw-pipelined" : "raw",
          [&data, &job, all, pipelined, weight](std::chrono::milliseconds length) {
            const auto operation = [&](unsigned thread, const Turn& turn) {
              Connections& mine = *(*all)[thread];
              pipelined ? mine.pipelined(job, turn) : mine.one_by_one(job, turn);
            };
            return run_job(data, job, length, operation, weight);
          }};
}

}  // namespace bench
