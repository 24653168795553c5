#pragma once

// A server of the Redis protocol that marks its replies with their keys and knows how a client must
// read them: the first reply on the wire answers the first command, the second the second, and so
// on, up to the first one that cannot be the answer. It can spoil its replies.

#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/wire/reply_reader.h"
#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {

// Keys are "k<number>", each used once. The number determines the server's answer.
inline std::string key_of(std::size_t number) { return "k" + std::to_string(number); }
inline std::size_t number_of(std::string_view key) {
  std::size_t number = 0;
  std::from_chars(key.data() + 1, key.data() + key.size(), number);
  return number;
}
inline std::string value_of(std::string_view key) {
  return "the value of " + std::string(key) +
         std::string(number_of(key) % 11 == 0 ? 9'000 : 0, '.');
}
// The reply to a pass-through command is a list around the value. Some numbers make it deeper than
// a reply may be.
inline bool is_too_deep(std::string_view key) { return number_of(key) % 3 == 1; }
inline std::string list_around(std::string_view key) {
  std::string all;
  for (int level = is_too_deep(key) ? 40 : 2; level > 0; --level) all += "*1\r\n";
  return all + bulk(value_of(key));
}

class ModelServer {
 public:
  enum class Fault : std::uint8_t { none, lose, twice, swap, garble };

  // With `plain` every key exists, there are no errors, and neighbouring replies differ in type.
  explicit ModelServer(bool plain) : plain_(plain) {}

  void receive(std::string_view bytes) {
    received_ += bytes;
    ReplyReader reader;
    while (!received_.empty() && reader.read(received_) == ReplyReader::Progress::complete) {
      const Value root = reader.root();
      std::vector<std::string> words;
      for (const Value word : root) words.emplace_back(word.text());
      answer(words);
      received_.erase(0, reader.size());
    }
  }
  // Moves all answers so far to the wire.
  std::string take() {
    std::string all;
    for (Reply& reply : pending_) {
      all += reply.bytes;
      wire_.push_back(std::move(reply));
    }
    pending_.clear();
    return all;
  }
  // Spoils the first of the queued replies. False if there are too few.
  bool spoil(Fault fault, std::size_t at) {
    if (pending_.size() < 2) return false;
    Reply& first = pending_.front();
    switch (fault) {
      case Fault::none:
        return false;
      case Fault::lose:
        pending_.erase(pending_.begin());
        return true;
      case Fault::twice:
        pending_.insert(pending_.begin(), Reply(first));
        return true;
      case Fault::swap:
        std::swap(pending_[0], pending_[1]);
        return true;
      case Fault::garble: {
        const bool in_text = first.bytes.front() == '$' && first.bytes.size() > 10;
        const std::size_t from = in_text ? at % first.bytes.size() : 0;
        std::fill(first.bytes.begin() + static_cast<std::ptrdiff_t>(from), first.bytes.end(), '\0');
        first.kind = Kind::garbage;
        return true;
      }
    }
    return false;
  }

  // The number of commands and replies on the wire before the first reply that cannot be its
  // command's.
  std::size_t good() const {
    std::size_t count = 0;
    while (count < wire_.size() && count < commands_.size() &&
           fits(commands_[count], wire_[count])) {
      ++count;
    }
    return count;
  }
  bool ends_badly() const { return good() < wire_.size(); }

  // How the client must read the reply to the key's command; nothing if there was none.
  std::optional<Seen> expected(std::string_view key) const {
    const auto found = place_.find(std::string(key));
    if (found == place_.end() || found->second >= good()) return std::nullopt;
    const Reply& reply = wire_[found->second];
    Seen seen;
    seen.kind = Event::Kind::reply;
    if (commands_[found->second].name == Name::echo && reply.kind != Kind::error &&
        reply.kind != Kind::list) {
      seen.value = reply.bytes;
      return seen;
    }
    switch (reply.kind) {
      case Kind::value:
        seen.value = reply.text;
        break;
      case Kind::list:
        seen.status = is_too_deep(reply.key) ? Status::refused : Status::done;
        if (seen.status == Status::done) seen.value = reply.bytes;
        if (seen.status == Status::refused) seen.text = too_large_text;
        break;
      case Kind::null:
        seen.status =
            commands_[found->second].name == Name::get ? Status::absent : Status::not_stored;
        break;
      case Kind::zero:
        seen.status = Status::absent;
        break;
      case Kind::error:
        seen.status = Status::refused;
        seen.text = reply.text;
        break;
      default:
        break;
    }
    return seen;
  }
  // The key of a list that was cancelled. The client no longer knows it.
  void give_up(const std::string& key) { given_up_.insert(key); }
  // True if the server's reply in this place was for this very key.
  bool is_own(std::string_view key) const {
    const auto found = place_.find(std::string(key));
    return found != place_.end() && wire_[found->second].key == key;
  }

 private:
  enum class Name : std::uint8_t { get, set, add, count, echo, ping, asking, other };
  enum class Kind : std::uint8_t { value, list, null, ok, pong, zero, one, error, other, garbage };
  static constexpr std::string_view too_large_text =
      "the command was carried out; its reply is above value_limit, 1048576 values or 32 levels";
  struct Reply {
    std::string bytes;
    Kind kind = Kind::other;
    std::string text{};
    std::string key{};
  };

  struct Command {
    Name name = Name::other;
    std::string key{};
  };

  // All errors of this server are redirects.
  bool fits(const Command& command, const Reply& reply) const {
    const Kind kind = reply.kind;
    if (kind == Kind::garbage) return false;
    if (kind == Kind::error) {
      if (command.key.empty()) return false;
      return given_up_.contains(command.key) || hash_slot(command.key) == hash_slot(reply.key);
    }
    switch (command.name) {
      case Name::get:
        return kind == Kind::value || kind == Kind::null;
      case Name::set:
      case Name::asking:
        return kind == Kind::ok;
      case Name::add:
        return kind == Kind::ok || kind == Kind::null;
      case Name::count:
        return kind == Kind::zero || kind == Kind::one;
      case Name::ping:
        return kind == Kind::pong;
      case Name::echo:
      case Name::other:
        return true;
    }
    return false;
  }

  void answer(const std::vector<std::string>& words) {
    const std::string& name = words[0];
    if (name == "HELLO") return greet(std::string(live::redis_hello_resp3));
    if (name == "CLIENT") return greet("+OK\r\n");
    if (!greeted_) {
      greeted_ = true;
      return greet("+PONG\r\n");
    }
    if (name == "PING") return add(Name::ping, {"+PONG\r\n", Kind::pong});
    if (name == "ASKING") return add(Name::asking, {"+OK\r\n", Kind::ok});
    const std::string& key = words[1];
    place_[key] = commands_.size();
    const bool adds = name == "SET" && words.back() == "NX";
    const Name command = name == "GET"    ? Name::get
                         : name == "ECHO" ? Name::echo
                         : adds           ? Name::add
                         : name == "SET"  ? Name::set
                                          : Name::count;
    Reply reply = reply_to(command, key);
    reply.key = key;
    add(command, std::move(reply), key);
  }
  Reply reply_to(Name command, const std::string& key) const {
    const std::size_t number = number_of(key);
    if (!plain_ && number % 13 == 5) {
      const std::string text = "MOVED " + std::to_string(hash_slot(key)) + " " + key +
                               ".example:" + std::to_string(7'000);
      return {"-" + text + "\r\n", Kind::error, text};
    }
    const bool there = plain_ || number % 3 != 0;
    switch (command) {
      case Name::get: {
        if (!there) return {"_\r\n", Kind::null};
        const std::string value = value_of(key);
        return {bulk(value), Kind::value, value};
      }
      case Name::count:
        return there ? Reply{":1\r\n", Kind::one} : Reply{":0\r\n", Kind::zero};
      case Name::echo:
        return {list_around(key), Kind::list};
      case Name::add:
        return there ? Reply{"+OK\r\n", Kind::ok} : Reply{"_\r\n", Kind::null};
      default:
        return {"+OK\r\n", Kind::ok};
    }
  }
  void greet(std::string bytes) { add(Name::other, {std::move(bytes), Kind::other}); }
  void add(Name command, Reply reply, const std::string& key = {}) {
    commands_.push_back({command, key});
    pending_.push_back(std::move(reply));
  }

  const bool plain_;
  bool greeted_ = false;
  std::string received_;
  std::vector<Command> commands_;  // all that have arrived, in their order
  std::vector<Reply> pending_;
  std::vector<Reply> wire_;  // all that have left
  std::map<std::string, std::size_t> place_;
  std::set<std::string> given_up_;
};

}  // namespace sheaf::protocol::resp
