// libmemcached as it is usually used: one handle for each thread.

#include <libmemcached/memcached.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "bench/memcached_peers.h"

namespace bench {
namespace {

class Handle {
 public:
  Handle(const Data& data, LibKind kind) : data_(data), handle_(memcached_create(nullptr)) {
    memcached_result_create(handle_, &result_);
    for (const Target& server : data.servers()) {
      expect(memcached_server_add(handle_, server.host.c_str(), server.port));
    }
    turn_on(MEMCACHED_BEHAVIOR_TCP_NODELAY);
    turn_on(MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED);
    if (kind == LibKind::binary || kind == LibKind::unacknowledged) {
      turn_on(MEMCACHED_BEHAVIOR_BINARY_PROTOCOL);
    }
    if (kind == LibKind::text_versions) turn_on(MEMCACHED_BEHAVIOR_SUPPORT_CAS);
    if (kind == LibKind::unacknowledged) {
      turn_on(MEMCACHED_BEHAVIOR_BUFFER_REQUESTS);
      turn_on(MEMCACHED_BEHAVIOR_NOREPLY);
    }
    for (unsigned i = 0; i < Data::count; ++i) {
      keys_.push_back(data.key(i).data());
      sizes_.push_back(data.key(i).size());
    }
  }
  ~Handle() {
    memcached_result_free(&result_);
    memcached_free(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void run(const Job& job, const Turn& turn) {
    switch (job.work) {
      case Work::get:
        return get(turn.index());
      case Work::set:
        return set(turn.index(), turn.value());
      case Work::get_many:
      case Work::execute:  // not here
        return get_many(turn.index(), job.keys);
    }
  }
  // Returns once every server has carried out its sets: it answers a get of the same connection
  // after them. A set that came later would overwrite what the next contestant stores.
  void flush() {
    expect(memcached_flush_buffers(handle_));
    std::vector<bool> asked(data_.servers().size());
    for (unsigned i = 0; i < Data::count; ++i) {
      if (asked[data_.owner(i)]) continue;
      asked[data_.owner(i)] = true;
      get(i);
    }
  }

 private:
  void get(unsigned at) {
    std::size_t size = 0;
    std::uint32_t flags = 0;
    memcached_return_t outcome = MEMCACHED_SUCCESS;
    char* const value = memcached_get(handle_, keys_[at], sizes_[at], &size, &flags, &outcome);
    const bool right = value != nullptr && Data::is_value_of({value, size}, data_.key(at));
    std::free(value);
    expect(outcome);
    if (!right) wrong_value("libmemcached", data_.key(at));
  }
  void set(unsigned at, std::string_view value) {
    expect(memcached_set(handle_, keys_[at], sizes_[at], value.data(), value.size(), 0, 0));
  }
  void get_many(unsigned at, unsigned count) {
    expect(memcached_mget(handle_, &keys_[at], &sizes_[at], count));
    memcached_return_t outcome = MEMCACHED_SUCCESS;
    unsigned found = 0;
    while (memcached_fetch_result(handle_, &result_, &outcome) != nullptr) {
      const std::string_view key(memcached_result_key_value(&result_),
                                 memcached_result_key_length(&result_));
      const std::string_view value(memcached_result_value(&result_),
                                   memcached_result_length(&result_));
      if (!Data::is_value_of(value, key)) wrong_value("libmemcached", key);
      ++found;
    }
    if (outcome != MEMCACHED_END && outcome != MEMCACHED_NOTFOUND) expect(outcome);
    if (found != count) wrong_value("libmemcached", data_.key(at));
  }
  void turn_on(memcached_behavior_t behaviour) {
    expect(memcached_behavior_set(handle_, behaviour, 1));
  }
  void expect(memcached_return_t outcome) {
    if (outcome == MEMCACHED_SUCCESS || outcome == MEMCACHED_BUFFERED) return;
    throw std::runtime_error(std::string("libmemcached: ") + memcached_strerror(handle_, outcome));
  }

  const Data& data_;
  memcached_st* handle_;
  memcached_result_st result_{};  // its memory is reused
  std::vector<const char*> keys_;
  std::vector<std::size_t> sizes_;
};

std::string name_of(LibKind kind) {
  switch (kind) {
    case LibKind::binary:
      return "lib-binary";
    case LibKind::text:
      return "lib-text";
    case LibKind::text_versions:
      return "lib-text-cas";
    case LibKind::unacknowledged:
      break;
  }
  return "lib-noreply";
}

}  // namespace

Contestant memcached_lib(const Data& data, const Job& job, LibKind kind) {
  const auto handles = std::make_shared<std::vector<std::unique_ptr<Handle>>>();
  for (unsigned i = 0; i < job.threads; ++i) {
    handles->push_back(std::make_unique<Handle>(data, kind));
  }
  return {name_of(kind), [&data, &job, kind, handles](std::chrono::milliseconds length) {
            const Act run = [&](unsigned thread, const Turn& turn) {
              (*handles)[thread]->run(job, turn);
            };
            const Act flush = [&](unsigned thread, const Turn&) {
              if (kind == LibKind::unacknowledged) (*handles)[thread]->flush();
            };
            return run_job(data, job, length, run, 1, flush);
          }};
}

}  // namespace bench
