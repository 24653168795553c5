#include "tests/sim/kit/sim_memcached.h"

#include <charconv>
#include <vector>

#include "base/checks.h"

namespace sheaf::sim {
namespace {

using protocol::Condition;
using protocol::Operation;
using protocol::Status;
using protocol::Verb;

class MemcachedService final : public SimService {
 public:
  MemcachedService(SimMemcached& server, Now now)
      : server_(server), table_(server.table()), started_(now.mono), clock_(0.5) {
    table_.restart();
  }
  std::unique_ptr<SimPeer> accept(SimConnection& connection, Now now) override;
  void tick(Now now) override {
    while (next_tick() <= now.mono) clock_.read(std::chrono::milliseconds(3));
  }
  Deadline next_tick() const override { return started_ + clock_.next_reading(); }

  CacheTable::Answer execute(const Operation& operation) {
    return table_.execute(operation, clock_);
  }
  CacheTable::Answer store(const Operation& operation, Now now) {
    CacheTable::Answer done = execute(operation);
    if (server_.log != nullptr && done.status == Status::done) {
      server_.log->push_back({now.mono, &server_, std::string(operation.value)});
    }
    return done;
  }

 private:
  SimMemcached& server_;
  CacheTable& table_;
  Deadline started_;
  CacheClock clock_;
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t size = std::min(line.find(' '), line.size());
    if (size > 0) words.push_back(line.substr(0, size));
    line.remove_prefix(std::min(size + 1, line.size()));
  }
  return words;
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  SHEAF_CHECK(error == std::errc() && end == text.data() + text.size());
  return value;
}

// The flags after a key.
class Flags {
 public:
  explicit Flags(std::vector<std::string_view> words) : words_(std::move(words)) {
    SHEAF_CHECK(!has('b'));  // tests use keys that need no base64
  }
  bool has(char letter) const { return find(letter) != nullptr; }
  std::string_view of(char letter) const {
    const std::string_view* word = find(letter);
    return word != nullptr ? word->substr(1) : std::string_view();
  }
  // The opaque flag, which the reply repeats unchanged.
  std::string opaque() const { return has('O') ? " O" + std::string(of('O')) : std::string(); }

 private:
  const std::string_view* find(char letter) const {
    for (const std::string_view& word : words_) {
      if (word.front() == letter) return &word;
    }
    return nullptr;
  }
  std::vector<std::string_view> words_;
};

// One connection: takes whole requests and answers each before the next.
class MemcachedPeer final : public SimPeer {
 public:
  MemcachedPeer(MemcachedService& service, SimConnection& connection)
      : service_(service), connection_(connection) {}

  std::size_t on_bytes(std::string_view bytes, Now now) override {
    in_.append(bytes);
    while (take_request(now)) {
    }
    flush();
    return bytes.size();
  }
  void on_writable(Now) override { flush(); }
  void on_end(Now) override {}

 private:
  void flush() { out_.erase(0, connection_.send(out_)); }

  bool take_request(Now now) {
    const std::size_t end = in_.find("\r\n");
    if (end == in_.npos) return false;
    std::vector<std::string_view> words = words_of(std::string_view(in_).substr(0, end));
    SHEAF_CHECK(!words.empty());
    std::size_t size = end + 2;
    std::string_view value;
    if (words[0] == "ms") {
      const auto length = static_cast<std::size_t>(number(words.at(2)));
      if (in_.size() < size + length + 2) return false;
      value = std::string_view(in_).substr(size, length);
      size += length + 2;
    }
    answer(words, value, now);
    in_.erase(0, size);
    return true;
  }

  void answer(const std::vector<std::string_view>& words, std::string_view value, Now now) {
    const std::string_view command = words[0];
    if (command == "version") {
      out_ += "VERSION 1.6.18\r\n";
    } else if (command == "mn") {
      out_ += "MN\r\n";
    } else if (command == "gets") {
      for (std::size_t i = 1; i < words.size(); ++i) list(words[i]);
      out_ += "END\r\n";
    } else if (command == "mg") {
      get(words[1], Flags({words.begin() + 2, words.end()}));
    } else if (command == "ms") {
      set(words[1], value, Flags({words.begin() + 3, words.end()}), now);
    } else if (command == "md") {
      remove(words[1], Flags({words.begin() + 2, words.end()}));
    } else {
      SHEAF_CHECK(false);  // a command that this server does not have
    }
  }

  void list(std::string_view key) {
    Operation operation;
    operation.key = key;
    const auto item = service_.execute(operation);
    if (item.status != Status::done) return;
    out_ += "VALUE " + std::string(key) + " 0 " + std::to_string(item.value.size()) + " " +
            item.version + "\r\n" + item.value + "\r\n";
  }

  void get(std::string_view key, const Flags& flags) {
    Operation operation;
    operation.key = key;
    SHEAF_CHECK(!flags.has('N'));
    auto item = service_.execute(operation);
    if (item.status != Status::done) {
      out_ += "EN" + flags.opaque() + "\r\n";
      return;
    }
    if (flags.has('T')) {
      operation.verb = Verb::touch;
      operation.ttl = std::chrono::seconds(number(flags.of('T')));
      service_.execute(operation);
    }
    std::string rest = flags.opaque();
    if (flags.has('f')) rest += " f" + std::to_string(item.flags);
    if (flags.has('t')) rest += " t" + std::to_string(item.seconds_left);
    if (flags.has('c')) rest += " c" + item.version;
    if (!flags.has('v')) {
      out_ += "HD" + rest + "\r\n";
    } else {
      out_ += "VA " + std::to_string(item.value.size()) + rest + "\r\n" + item.value + "\r\n";
    }
  }

  void set(std::string_view key, std::string_view value, const Flags& flags, Now now) {
    Operation operation;
    operation.verb = Verb::set;
    operation.key = key;
    operation.value = value;
    if (flags.has('T')) operation.ttl = std::chrono::seconds(number(flags.of('T')));
    if (flags.has('F')) operation.flags = static_cast<std::uint32_t>(number(flags.of('F')));
    if (flags.of('M') == "E") operation.condition = Condition::if_absent;
    if (flags.of('M') == "R") operation.condition = Condition::if_present;
    if (flags.has('C')) {
      operation.condition = Condition::if_version;
      operation.version = flags.of('C');
    }
    const auto done = service_.store(operation, now);
    const bool compared = operation.condition == Condition::if_version;
    const std::string_view code = done.status == Status::done     ? "HD"
                                  : done.status == Status::absent ? "NF"
                                  : compared                      ? "EX"
                                                                  : "NS";
    out_ += std::string(code) + flags.opaque();
    if (flags.has('c') && done.status == Status::done) out_ += " c" + done.version;
    out_ += "\r\n";
  }

  void remove(std::string_view key, const Flags& flags) {
    Operation operation;
    operation.verb = Verb::remove;
    operation.key = key;
    if (flags.has('C')) {
      operation.condition = Condition::if_version;
      operation.version = flags.of('C');
    }
    const auto done = service_.execute(operation);
    const std::string_view code = done.status == Status::done     ? "HD"
                                  : done.status == Status::absent ? "NF"
                                                                  : "EX";
    out_ += std::string(code) + flags.opaque() + "\r\n";
  }

  MemcachedService& service_;
  SimConnection& connection_;
  std::string in_;
  std::string out_;
};

std::unique_ptr<SimPeer> MemcachedService::accept(SimConnection& connection, Now) {
  return std::make_unique<MemcachedPeer>(*this, connection);
}

}  // namespace

SimServer::Start SimMemcached::start() {
  return [this](Now now) { return std::make_unique<MemcachedService>(*this, now); };
}

}  // namespace sheaf::sim
