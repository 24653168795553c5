#pragma once

// The smallest server that a session can talk to. It answers in order and marks every value with
// its key. It can lose, double or swap a reply.

#include <string>
#include <string_view>
#include <vector>

#include "tests/protocol/memcached/session_harness.h"

namespace sheaf::protocol::memcached {

// Keys are "k<number>"; every third is absent.
inline std::string key_of(std::size_t number) { return "k" + std::to_string(number); }
// The same, but so long that a few keys fill a list.
inline std::string long_key_of(std::size_t number) {
  const std::string digits = std::to_string(number);
  return "k" + std::string(230 - digits.size(), '0') + digits;
}
inline bool is_there(std::string_view key) {
  return parse_decimal(key.substr(1)).value_or(0) % 3 != 0;
}
inline std::string value_of(std::string_view key) {
  const std::size_t number = parse_decimal(key.substr(1)).value_or(0);
  return "the value of " + std::string(key) + std::string(number % 7 == 0 ? 9'000 : 0, '.');
}

class ToyServer {
 public:
  enum class Fault : std::uint8_t { none, lose, lose_two, twice, swap };

  virtual ~ToyServer() = default;
  // Takes bytes from the client; the answers are queued.
  void receive(std::string_view bytes) {
    received_ += bytes;
    while (answer_one()) {
    }
  }
  // Takes all answers so far.
  std::string take() {
    std::string all;
    for (const std::string& reply : replies_) all += reply;
    replies_.clear();
    return all;
  }
  // Spoils the first of the queued replies. False if there are too few.
  bool spoil(Fault fault) {
    const bool of_two = fault == Fault::swap || fault == Fault::lose_two;
    if (replies_.size() < (of_two ? 2u : 1u)) return false;
    if (fault == Fault::lose) replies_.erase(replies_.begin());
    if (fault == Fault::lose_two) replies_.erase(replies_.begin(), replies_.begin() + 2);
    if (fault == Fault::twice) replies_.insert(replies_.begin(), std::string(replies_.front()));
    if (fault == Fault::swap) std::swap(replies_[0], replies_[1]);
    return true;
  }

 protected:
  virtual bool answer_one() = 0;  // false: no whole request has arrived
  void reply(std::string bytes) { replies_.push_back(std::move(bytes)); }

  std::string received_;

 private:
  std::vector<std::string> replies_;
};

class BinaryToy final : public ToyServer {
  bool answer_one() override {
    ByteReader reader(received_);
    const auto request = parse_request(reader);
    if (!request) return false;
    std::visit([this](const auto& one) { answer(one); }, *request);
    received_.erase(0, reader.position());
    return true;
  }
  void answer(const GetRequest& get) {
    const bool quiet = get.opcode == Opcode::get_quiet;
    if (is_there(get.key)) {
      reply(binary_hit(get.opcode, get.opaque, value_of(get.key)));
    } else if (!quiet) {
      reply(binary_failure(get.opcode, get.opaque, StatusCode::key_not_found, "Not found"));
    }
  }
  void answer(const SetRequest& set) {
    reply(encoded(PlainReply{.opcode = set.opcode, .opaque = set.opaque, .cas = 1}));
  }
  void answer(const RemoveRequest& remove) {
    reply(encoded(PlainReply{.opcode = remove.opcode, .opaque = remove.opaque}));
  }
  void answer(const ArithmeticRequest& count) {
    const auto number = parse_decimal(count.key.substr(1)).value_or(0);
    reply(encoded(ArithmeticReply{count.opcode, {}, count.opaque, 1, number, {}}));
  }
  void answer(const BareRequest& bare) {
    if (bare.opcode == Opcode::no_op) reply(binary_no_op(bare.opaque));
    if (bare.opcode == Opcode::version) reply(binary_version(bare.opaque));
  }
  void answer(const StatRequest& stat) { reply(encoded(StatReply{.opaque = stat.opaque})); }
  template <class Other>
  void answer(const Other&) {}
};

class MetaToy final : public ToyServer {
  bool answer_one() override {
    const std::size_t end = received_.find("\r\n");
    if (end == std::string::npos) return false;
    const std::string line = received_.substr(0, end);
    const std::vector<std::string> words = split(line);
    std::size_t size = end + 2;
    if (words[0] == "ms") size += parse_decimal(words[2]).value_or(0) + 2;
    if (received_.size() < size) return false;
    received_.erase(0, size);
    answer(words);
    return true;
  }
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> words(1);
    for (const char c : line) {
      if (c == ' ') {
        words.emplace_back();
      } else {
        words.back() += c;
      }
    }
    return words;
  }
  void answer(const std::vector<std::string>& words) {
    const std::string& verb = words[0];
    const std::string opaque = " " + words.back() + "\r\n";
    if (verb == "version") return reply("VERSION 1.6.18\r\n");
    if (verb == "mn") return reply("MN\r\n");
    if (verb == "ms") return reply("HD c1" + opaque);
    if (verb == "md") return reply("HD" + opaque);
    if (verb == "stats") return reply("END\r\n");
    if (verb == "gets") return answer_list(words);
    std::string value = words[1].substr(1);
    if (verb == "mg") {
      if (!is_there(words[1])) return reply("EN" + opaque);
      value = value_of(words[1]);
    }
    reply("VA " + std::to_string(value.size()) + " f0 c1" + opaque + value + "\r\n");
  }
  void answer_list(const std::vector<std::string>& words) {
    std::string all;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (!is_there(words[i])) continue;
      const std::string value = value_of(words[i]);
      all += "VALUE " + words[i] + " 0 " + std::to_string(value.size()) + " 1\r\n" + value + "\r\n";
    }
    reply(all + "END\r\n");
  }
};

}  // namespace sheaf::protocol::memcached
