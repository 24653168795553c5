// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/data_commands.h"

#include <limits>
#include <optional>

#include "protocol/resp/wire/reply_tree.h"
#include "tests/support/resp_model/command_table.h"

namespace sheaf::test::resp_model {
namespace {

constexpr std::string_view syntax_error = "ERR syntax error";
constexpr std::string_view not_integer = "ERR value is not an integer or out of range";

// Longer lifetimes, about 146 years, last forever.
constexpr std::int64_t longest_ms = std::numeric_limits<std::int64_t>::max() / 2 / 1'000'000;

std::string bad_expiry(std::string_view command) {
  return "ERR invalid expire time in '" + std::string(command) + "' command";
}

Deadline end_after(std::int64_t ms, Deadline now) {
  return ms > longest_ms ? never : now + std::chrono::milliseconds(ms);
}

// The options of SET and GETEX.
struct Options {
  bool absent = false;   // NX
  bool present = false;  // XX
  bool get = false;
  bool keep = false;     // KEEPTTL
  bool persist = false;  // PERSIST
  std::optional<std::string> lifetime{};
  bool seconds = false;
};

// Nothing: a syntax error.
std::optional<Options> parse_options(const Words& words, std::size_t at, bool of_set) {
  Options options;
  for (; at < words.size(); ++at) {
    const std::string name = lower(words[at]);
    const bool has_expiry = options.lifetime || options.keep || options.persist;
    if ((name == "ex" || name == "px") && at + 1 < words.size() && !has_expiry) {
      options.seconds = name == "ex";
      options.lifetime = words[++at];
    } else if (of_set && name == "nx" && !options.present) {
      options.absent = true;
    } else if (of_set && name == "xx" && !options.absent) {
      options.present = true;
    } else if (of_set && name == "get") {
      options.get = true;
    } else if (of_set && name == "keepttl" && !has_expiry) {
      options.keep = true;
    } else if (!of_set && name == "persist" && !has_expiry) {
      options.persist = true;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

// Carries out one command and writes its reply.
class Run {
 public:
  Run(const Words& words, Keyspace& keys, const Dialect& dialect, Deadline now, ReplyWriter& reply)
      : words_(words), keys_(keys), dialect_(dialect), now_(now), reply_(reply) {}

  void run(std::string_view name) {
    if (name == "get") return value(keys_.find(words_[1], now_));
    if (name == "set") return set();
    if (name == "del") return count([&](const std::string& key) { return keys_.erase(key, now_); });
    if (name == "exists") {
      return count([&](const std::string& key) { return keys_.find(key, now_) != nullptr; });
    }
    if (name == "getex") return getex();
    if (name == "pexpire") return pexpire();
    if (name == "persist") return persist();
    if (name == "mget") return mget();
    if (name == "mset") return mset();
    if (name == "incrby") return incrby();
    if (name == "append") return append();
    if (name == "pttl") return pttl();
  }

 private:
  void value(const Item* item) { item != nullptr ? reply_.bulk(item->value) : reply_.null(); }

  template <typename Happens>
  void count(Happens happens) {
    std::int64_t times = 0;
    for (std::size_t i = 1; i < words_.size(); ++i) times += happens(words_[i]) ? 1 : 0;
    reply_.number(times);
  }

  void set() {
    const auto options = parse_options(words_, 3, true);
    if (!options) {
      return reply_.error(dialect_.is_garnet() ? "ERR unknown command" : syntax_error);
    }
    const auto ends = end_of(*options, "set");
    if (!ends) return;
    const Item* item = keys_.find(words_[1], now_);
    const bool holds = options->absent    ? item == nullptr
                       : options->present ? item != nullptr
                                          : true;
    if (options->get) {
      value(item);
    } else {
      holds ? reply_.ok() : reply_.null();
    }
    if (!holds) return;
    const Deadline kept = options->keep && item != nullptr ? item->ends : ends->value_or(never);
    keys_.put(words_[1], words_[2], kept);
  }

  void mset() {
    if (words_.size() % 2 == 0) return reply_.error("ERR wrong number of arguments for MSET");
    for (std::size_t i = 1; i < words_.size(); i += 2) keys_.put(words_[i], words_[i + 1], never);
    reply_.ok();
  }

  void getex() {
    const auto options = parse_options(words_, 2, false);
    if (!options) return reply_.error(syntax_error);
    const auto ends = end_of(*options, "getex");
    if (!ends) return;
    Item* item = keys_.find(words_[1], now_);
    value(item);
    if (item == nullptr) return;
    if (options->persist) item->ends = never;
    if (*ends) item->ends = **ends;
  }

  // Nothing: an error was written. An empty deadline: the command names none.
  std::optional<std::optional<Deadline>> end_of(const Options& options, std::string_view command) {
    if (!options.lifetime) return std::optional<Deadline>();
    const auto given = protocol::resp::parse_number(*options.lifetime);
    if (!given) {
      reply_.error(not_integer);
      return std::nullopt;
    }
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::int64_t wall_then = 1'700'000'000'000;  // about what a server adds
    if (*given <= 0 || (options.seconds && *given > most / 1'000) ||
        *given * (options.seconds ? 1'000 : 1) > most - wall_then) {
      reply_.error(bad_expiry(command));
      return std::nullopt;
    }
    return end_after(*given * (options.seconds ? 1'000 : 1), now_);
  }

  // Garnet's garbage in reply to a command on a dead key.
  bool spoil() {
    if (!dialect_.is_garnet() || !keys_.is_dead(words_[1], now_)) return false;
    reply_.raw(std::string(garnet_garbage, '\0'));
    return true;
  }

  void pexpire() {
    const auto ms = protocol::resp::parse_number(words_[2]);
    if (words_.size() > 3) return reply_.error("ERR Unsupported option " + words_[3]);
    if (!ms) return reply_.error(not_integer);
    if (*ms > std::numeric_limits<std::int64_t>::max() - 1'700'000'000'000) {
      return reply_.error(bad_expiry("pexpire"));
    }
    if (spoil()) return;
    Item* item = keys_.find(words_[1], now_);
    reply_.number(item != nullptr ? 1 : 0);
    if (item == nullptr) return;
    if (*ms > 0) {
      item->ends = end_after(*ms, now_);
    } else {
      keys_.erase(words_[1], now_);
    }
  }

  void persist() {
    if (spoil()) return;
    Item* item = keys_.find(words_[1], now_);
    const bool had_end = item != nullptr && item->ends != never;
    if (had_end) item->ends = never;
    reply_.number(had_end ? 1 : 0);
  }

  void mget() {
    reply_.array(words_.size() - 1);
    for (std::size_t i = 1; i < words_.size(); ++i) {
      const Item* item = keys_.find(words_[i], now_);
      if (item != nullptr) {
        reply_.bulk(item->value);
      } else if (dialect_.is_garnet()) {
        reply_.raw("$-1\r\n");  // in RESP3, too
      } else {
        reply_.null();
      }
    }
  }

  void incrby() {
    const auto delta = protocol::resp::parse_number(words_[2]);
    Item* item = keys_.find(words_[1], now_);
    const auto present =
        protocol::resp::parse_number(item != nullptr ? std::string_view(item->value) : "0");
    if (!delta || !present) return reply_.error(not_integer);
    std::int64_t sum = 0;
    if (__builtin_add_overflow(*present, *delta, &sum)) {
      return reply_.error("ERR increment or decrement would overflow");
    }
    keys_.put(words_[1], std::to_string(sum), item != nullptr ? item->ends : never);
    reply_.number(sum);
  }

  void append() {
    Item* item = keys_.find(words_[1], now_);
    if (item == nullptr) item = &keys_.put(words_[1], {});
    item->value += words_[2];
    reply_.number(static_cast<std::int64_t>(item->value.size()));
  }

  void pttl() {
    const Item* item = keys_.find(words_[1], now_);
    if (item == nullptr) return reply_.number(-2);
    if (item->ends == never) return reply_.number(-1);
    reply_.number(std::chrono::ceil<std::chrono::milliseconds>(item->ends - now_).count());
  }

  const Words& words_;
  Keyspace& keys_;
  const Dialect& dialect_;
  const Deadline now_;
  ReplyWriter& reply_;
};

}  // namespace

void run_data_command(const Words& words, Keyspace& keys, const Dialect& dialect, Deadline now,
                      ReplyWriter& reply) {
  Run(words, keys, dialect, now, reply).run(lower(words[0]));
}

}  // namespace sheaf::test::resp_model
