// hiredis as it is usually used: a context, which is one connection, for each thread. It does not
// know clusters, so on a cluster each thread has a context for each server, and the slot table.

#include <hiredis/hiredis.h>

#include <array>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <utility>

#include "bench/redis_peers.h"
#include "protocol/resp/wire/hash_slot.h"

namespace bench {
namespace {

using sheaf::protocol::resp::hash_slot;
using sheaf::protocol::resp::slot_count;

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

// A command of at most three words, in the form that hiredis takes.
struct Command {
  Command(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) {
      texts.at(count) = word.data();
      sizes.at(count++) = word.size();
    }
  }
  int words() const { return static_cast<int>(count); }

  std::size_t count = 0;
  std::array<const char*, 3> texts{};
  std::array<std::size_t, 3> sizes{};
};

// A connection, and the keys that its server has not answered yet.
class Context {
 public:
  explicit Context(const Target& server)
      : context_(redisConnect(server.host.c_str(), server.port)) {
    if (!context_ || context_->err != 0) fail();
  }

  Reply ask(Command command) {
    return checked(redisCommandArgv(context_.get(), command.words(), command.texts.data(),
                                    command.sizes.data()));
  }
  // One MGET for all keys.
  void get_together(const Data& data, unsigned first, unsigned count) {
    std::vector<const char*> texts{"MGET"};
    std::vector<std::size_t> sizes{4};
    for (unsigned i = first; i < first + count; ++i) {
      texts.push_back(data.key(i).data());
      sizes.push_back(data.key(i).size());
    }
    const Reply all = checked(redisCommandArgv(context_.get(), static_cast<int>(texts.size()),
                                               texts.data(), sizes.data()));
    if (all->elements != count) wrong_value("hiredis", data.key(first));
    for (unsigned i = 0; i < count; ++i) expect_value(*all->element[i], data.key(first + i));
  }
  void append_get(const Data& data, unsigned i) {
    Command command{"GET", data.key(i)};
    if (redisAppendCommandArgv(context_.get(), command.words(), command.texts.data(),
                               command.sizes.data()) != REDIS_OK) {
      fail();
    }
    keys_.push_back(i);
  }
  // Sends everything that was appended, so that several servers work at once.
  void send() {
    for (int done = 0; done == 0;) {
      if (redisBufferWrite(context_.get(), &done) != REDIS_OK) fail();
    }
  }
  void take_values(const Data& data) {
    for (const unsigned i : keys_) {
      void* reply = nullptr;
      if (redisGetReply(context_.get(), &reply) != REDIS_OK) fail();
      expect_value(*checked(reply), data.key(i));
    }
    keys_.clear();
  }
  static void expect_value(const redisReply& reply, std::string_view key) {
    if (reply.type != REDIS_REPLY_STRING || !Data::is_value_of({reply.str, reply.len}, key)) {
      wrong_value("hiredis", key);
    }
  }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };

  Reply checked(void* reply) const {
    Reply mine(static_cast<redisReply*>(reply));
    if (!mine) fail();
    if (mine->type == REDIS_REPLY_ERROR) throw std::runtime_error("hiredis: " + text_of(*mine));
    return mine;
  }
  static std::string text_of(const redisReply& reply) { return {reply.str, reply.len}; }
  [[noreturn]] void fail() const {
    throw std::runtime_error(std::string("hiredis: ") +
                             (context_ ? context_->errstr : "no memory"));
  }

  std::unique_ptr<redisContext, Free> context_;
  std::vector<unsigned> keys_;
};

// One thread's contexts, and the owner of each slot.
class Router {
 public:
  Router(const Data& data, bool cluster, bool mget) : data_(data), mget_(mget) {
    for (const Target& server : data.servers()) contexts_.emplace_back(server);
    if (cluster) ask_slots();
  }

  void run(const Job& job, const Turn& turn) {
    switch (job.work) {
      case Work::get:
        return get(data_.key(turn.index()));
      case Work::set:
        return set(data_.key(turn.index()), turn.value());
      case Work::get_many:
      case Work::execute:
        return get_many(turn.index(), job.keys);
    }
  }

 private:
  // A CLUSTER SLOTS entry has the first slot, the last one, the primary (its address and port) and
  // the replicas.
  void ask_slots() {
    owners_.resize(slot_count);
    const Reply ranges = contexts_[0].ask({"CLUSTER", "SLOTS"});
    for (std::size_t i = 0; i < ranges->elements; ++i) {
      redisReply* const* const range = ranges->element[i]->element;
      const unsigned owner = server_of(range[2]->element[1]->integer);
      for (auto slot = range[0]->integer; slot <= range[1]->integer; ++slot) {
        owners_.at(static_cast<std::size_t>(slot)) = owner;
      }
    }
  }
  unsigned server_of(long long port) const {
    for (unsigned i = 0; i < data_.servers().size(); ++i) {
      if (data_.servers()[i].port == port) return i;
    }
    throw std::runtime_error("hiredis: the cluster has a server at " + std::to_string(port));
  }
  Context& context_of(std::string_view key) {
    return owners_.empty() ? contexts_[0] : contexts_[owners_[hash_slot(key)]];
  }

  void get(std::string_view key) {
    const Reply reply = context_of(key).ask({"GET", key});
    Context::expect_value(*reply, key);
  }
  void set(std::string_view key, std::string_view value) {
    const Reply reply = context_of(key).ask({"SET", key, value});
    if (reply->type != REDIS_REPLY_STATUS) wrong_value("hiredis", key);
  }
  void get_many(unsigned first, unsigned count) {
    if (mget_) return contexts_[0].get_together(data_, first, count);
    for (unsigned i = first; i < first + count; ++i) context_of(data_.key(i)).append_get(data_, i);
    for (Context& context : contexts_) context.send();
    for (Context& context : contexts_) context.take_values(data_);
  }

  const Data& data_;
  const bool mget_;
  std::vector<Context> contexts_;
  std::vector<unsigned> owners_;  // by slot; empty: one server owns all slots
};

}  // namespace

Contestant redis_hiredis(const Data& data, const Job& job, bool cluster, bool mget) {
  const auto all = std::make_shared<std::vector<Router>>();
  for (unsigned i = 0; i < job.threads; ++i) all->emplace_back(data, cluster, mget);
  return {mget ? "hiredis-mget" : "hiredis", [&data, &job, all](std::chrono::milliseconds length) {
            return run_job(data, job, length, [&](unsigned thread, const Turn& turn) {
              (*all)[thread].run(job, turn);
            });
          }};
}

}  // namespace bench
