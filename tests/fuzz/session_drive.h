#pragma once

// Drives a client session with an input: a script of steps, then the server's bytes. Checks the
// contract of protocol/session.h on the way: every request gets exactly one last event, items
// ascend, no event comes after the end, and a request's borrowed memory is not touched after its
// end.
//
//   input   number of steps u8, steps, bytes of the server
//   step    action u8, argument u8
//
// Each input is played twice: with the server's bytes in pieces as the script says, and one by one.
// Both must make the same events.
//
// Thread rule: one thread.

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "protocol/login.h"
#include "protocol/session.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {

class SessionDrive {
 public:
  enum class Action : std::uint8_t {
    feed,
    submit,
    take_output,
    answer,
    cancel,
    pass_time,
    end,
    renew
  };
  static constexpr std::uint8_t all = 255;  // an argument of feed and take_output
  // Every verb but `command`. An argument of submit is a verb plus this many times its variant.
  static constexpr unsigned verbs = protocol::verb_count - 1;

  // A request's borrowed memory, allocated separately and freed with the request.
  struct Request {
    std::string key;
    std::string value;
    std::vector<std::string> names;
    std::vector<std::string_view> keys;
    std::vector<std::span<const std::string_view>> commands;  // the words of each: one of the keys
    std::uint32_t next_item = 0;
  };

  // `piece` is how many of the server's bytes are given at once. `slot` is the session's login
  // slot.
  SessionDrive(protocol::Session& session, std::size_t piece,
               std::shared_ptr<protocol::LoginSlot> slot = std::make_shared<protocol::LoginSlot>())
      : session_(session), piece_(piece), slot_(std::move(slot)) {}
  virtual ~SessionDrive() = default;
  SessionDrive(const SessionDrive&) = delete;
  SessionDrive& operator=(const SessionDrive&) = delete;

  // Plays the session's whole life.
  void play(std::string_view bytes);
  // All events, and the number of bytes that were written.
  const std::string& transcript() const { return transcript_; }

 protected:
  // For servers that answer the question: sees what the session has written, and turns bytes of the
  // input into an answer.
  virtual void on_written(std::string_view) {}
  virtual std::string answer(std::uint8_t, std::string_view text) { return std::string(text); }
  // A version that sessions of this protocol accept.
  virtual std::string_view version() const { return "7"; }

  const Now& now() const { return now_; }

 private:
  using Name = std::pair<std::uint32_t, std::uint32_t>;

  void step(Action action, std::uint8_t argument, Input& server);
  void feed(std::string_view bytes);
  std::size_t piece_of(std::size_t given, std::size_t left) const;
  void submit(std::uint8_t argument);
  void take_output(std::size_t most);
  void cancel(std::uint8_t argument);
  void pass_time(std::uint8_t argument);
  void renew(std::uint8_t argument);
  void poll();
  void check(const protocol::Event& event);
  void note(const protocol::Event& event);

  protocol::Session& session_;
  std::size_t piece_;
  std::shared_ptr<protocol::LoginSlot> slot_;
  Now now_{std::chrono::hours(1), std::chrono::milliseconds(1'700'000'000'000)};
  std::map<Name, std::unique_ptr<Request>> open_;
  bool ready_ = false;
  bool over_ = false;
  std::string transcript_;
};

// Plays `bytes` with two sessions. `drive(piece)` plays them in pieces of that size and returns the
// transcript.
template <class Drive>
void play_twice(const Drive& drive) {
  const std::string at_once = drive(static_cast<std::size_t>(-1));
  const std::string one_by_one = drive(1);
  if (at_once != one_by_one) {
    std::fprintf(stderr, "at once:\n%s\none by one:\n%s\n", at_once.c_str(), one_by_one.c_str());
  }
  expect(at_once == one_by_one, "single bytes make the same events as all at once");
}

// ---- seeds

class Script {
 public:
  using Action = SessionDrive::Action;

  Script& feed(std::uint8_t size = SessionDrive::all) { return add(Action::feed, size); }
  Script& submit(protocol::Verb verb, unsigned variant = 0) {
    return add(Action::submit, static_cast<unsigned>(verb) + SessionDrive::verbs * variant);
  }
  Script& take_output(std::uint8_t size = SessionDrive::all) {
    return add(Action::take_output, size);
  }
  Script& answer(std::uint8_t argument) { return add(Action::answer, argument); }
  Script& cancel(std::uint8_t number) { return add(Action::cancel, number); }
  Script& pass_time(std::uint8_t power) { return add(Action::pass_time, power); }
  Script& end() { return add(Action::end, 0); }
  // 0 and 1: tokens; 2 and 3: passwords; 4: no login.
  Script& renew(std::uint8_t login) { return add(Action::renew, login); }

  // The input: these steps, and the server's bytes.
  std::string with(std::string_view server) const {
    return static_cast<char>(steps_.size() / 2) + steps_ + std::string(server);
  }

 private:
  Script& add(Action action, unsigned argument) {
    steps_.push_back(static_cast<char>(action));
    steps_.push_back(static_cast<char>(argument));
    return *this;
  }

  std::string steps_;
};

}  // namespace sheaf::fuzz
