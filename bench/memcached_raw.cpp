// The limits: requests as short as memcached takes them, over blocking sockets, and replies of a
// known size that are compared with what they must be. No client that waits in the kernel for its
// answers can be faster.

#include <memory>
#include <stdexcept>

#include "bench/memcached_peers.h"
#include "bench/raw_socket.h"

namespace bench {
namespace {

constexpr unsigned pipeline_depth = 100;  // gets and sets in flight when pipelined

// One thread's connections.
class Connections {
 public:
  explicit Connections(const Data& data) : data_(data), parts_(data.servers().size()) {
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
    const unsigned keys = job.work == Work::get_many ? job.keys : pipeline_depth;
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
    if (job.work == Work::get_many) end_lists();
    exchange(job.work);
  }

 private:
  // What goes to one server, and the keys that it must answer.
  struct Part {
    std::string request;
    std::vector<unsigned> keys;
    bool list = false;  // one END for all
  };

  Part& part_of(unsigned i) {
    Part& part = parts_[data_.owner(i)];
    part.keys.push_back(i);
    return part;
  }
  void add_get(unsigned i) { part_of(i).request.append("get ").append(data_.key(i)) += "\r\n"; }
  void add_set(unsigned i, std::string_view value) {
    const std::string_view key = data_.key(i);
    std::string& request = part_of(i).request;
    request.append("set ").append(key).append(" 0 0 100\r\n").append(key);
    request.append(value.substr(key.size())) += "\r\n";
  }
  void add_to_list(unsigned i) {
    Part& part = part_of(i);
    if (part.request.empty()) part.request = "get";
    part.request.append(1, ' ').append(data_.key(i));
    part.list = true;
  }
  void end_lists() {
    for (Part& part : parts_) {
      if (part.list) part.request += "\r\n";
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
    constexpr std::string_view stored = "STORED\r\n";
    std::string_view rest = take(part.keys.size() * stored.size(), socket);
    for (const unsigned key : part.keys) {
      if (!rest.starts_with(stored)) wrong_value("raw", data_.key(key));
      rest.remove_prefix(stored.size());
    }
  }
  void take_values(const Part& part, const RawSocket& socket) {
    constexpr std::string_view head = "VALUE ";
    constexpr std::string_view middle = " 0 100\r\n";
    constexpr std::string_view end = "END\r\n";
    const std::size_t key_size = data_.key(0).size();
    const std::size_t value = head.size() + key_size + middle.size() + Data::value_size + 2;
    const std::size_t ends = part.list ? 1 : part.keys.size();
    std::string_view rest = take(part.keys.size() * value + ends * end.size(), socket);
    for (const unsigned i : part.keys) {
      const std::string_view text =
          rest.substr(head.size() + key_size + middle.size(), Data::value_size);
      if (rest.substr(head.size(), key_size) != data_.key(i) ||
          !Data::is_value_of(text, data_.key(i))) {
        wrong_value("raw", data_.key(i));
      }
      rest.remove_prefix(value);
      if (!part.list) rest.remove_prefix(end.size());
    }
  }

  const Data& data_;
  std::vector<std::unique_ptr<RawSocket>> sockets_;
  std::vector<Part> parts_;
  std::string input_;
};

}  // namespace

Contestant memcached_raw(const Data& data, const Job& job, bool pipelined) {
  const auto all = std::make_shared<std::vector<std::unique_ptr<Connections>>>();
  for (unsigned i = 0; i < job.threads; ++i) all->push_back(std::make_unique<Connections>(data));
  const unsigned weight = pipelined && job.work != Work::get_many ? pipeline_depth : 1;
  return {pipelined ? "raw-pipelined" : "raw",
          [&data, job, all, pipelined, weight](std::chrono::milliseconds length) {
            const auto operation = [&](unsigned thread, const Turn& turn) {
              Connections& mine = *(*all)[thread];
              pipelined ? mine.pipelined(job, turn) : mine.one_by_one(job, turn);
            };
            return run_job(data, job, length, operation, weight);
          }};
}

}  // namespace bench
