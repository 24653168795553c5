#pragma once

// What the sessions of memcached's two protocols have in common: the life of the connection,
// requests in order, cancelling, deadlines, and how a request ends.
//
// | state     | input                     | then                              | next     |
// |-----------|---------------------------|-----------------------------------|----------|
// | idle      | start()                   | asks for the version              | greeting |
// | greeting  | version, log-in if wanted | event ready                       | ready    |
// | greeting  | anything else             |                                   | closed   |
// | ready     | submit()                  | the request                       | ready    |
// | ready     | reply to the oldest       | event reply, or dropped, counted  | ready    |
// | ready     | silence                   | no-op; without an answer: closed  | ready    |
// | any       | any other reply, the end  | events failed, closed             | closed   |
//
// A reply belongs to a request only if it is the oldest that owes one and carries its opaque. A
// cancelled request keeps its place until its reply has passed. What contradicts that ends the
// connection, and so does every error that says that client and server have lost each other.
//
// Input is parsed when events are polled: one reply gives at most one event, and views in it stay
// valid until the next input or command.
//
// Without memory a submit is refused, and everything else ends the connection; nothing is thrown.
//
// Thread rule: one thread at a time; nothing here blocks, calls back or reads a clock.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/input_buffer.h"
#include "protocol/memcached/request_queue.h"
#include "protocol/memcached/rules.h"
#include "protocol/output_queue.h"
#include "protocol/session.h"

namespace sheaf::protocol::memcached {

struct SessionOptions {
  std::string user;  // empty = no log-in; the server must not want one, then
  std::string password;
  std::chrono::milliseconds keep_alive{10'000};      // longest silence before a no-op
  std::chrono::milliseconds answer_limit{5'000};     // for its answer
  std::chrono::milliseconds handshake_limit{5'000};  // from start() to ready
  std::uint64_t value_limit = 16u << 20;             // of ours, both ways
  std::uint64_t item_size = 1u << 20;     // the server's `-I`: above it, it deletes what it had
  std::uint32_t max_in_flight = 512;      // requests whose replies have not passed
  std::uint64_t output_limit = 4u << 20;  // no more requests while so many bytes wait
  // Ready with the version, without a log-in; takes no requests. To find out what a server is; the
  // connection is of no use afterwards.
  bool only_version = false;
  std::uint32_t first_opaque = 1;
};

// What a server turned out to be.
enum class Dialect : std::uint8_t {
  unknown,         // it has not said a word yet; to the wrong protocol it never does
  this_one,        // it has answered in the protocol of the session
  text,            // text, and not binary
  text_and_log_in  // text after a log-in (-Y), and not binary
};

class MemcachedSession : public Session {
 public:
  std::span<std::byte> input_space() final;
  void on_input(std::size_t size, Now now) final;
  void on_output(std::size_t size, Now now) final;
  void on_eof(Now now) final;
  void on_deadline(Now now) final;

  void start(Now now) final;
  std::expected<Ticket, LocalError> submit(const Operation& operation, Now now) final;
  Sent cancel(Ticket ticket, Now now) final;
  void close(Now now) final;

  std::span<const Bytes> poll_output() final;
  bool poll_event(Event& event) final;
  std::optional<Deadline> poll_deadline() const final;

  std::size_t room() const final;
  std::size_t in_flight() const final { return closed() ? 0 : queue_.waiting(); }
  bool ready() const final { return state_ == State::ready; }
  bool clean() const final { return ready() && queue_.only_own(); }
  bool closed() const final { return state_ == State::closed; }
  const CloseReason& close_reason() const final { return close_reason_; }
  const Counters& counters() const final { return counters_; }

  // What the server calls itself; nothing before it has said so, or if its words are none.
  const std::optional<ServerVersion>& server_version() const noexcept { return server_version_; }

  Dialect dialect() const noexcept { return dialect_; }

  // Memory held for input and output, for tests of bounds.
  std::size_t input_capacity() const noexcept { return input_.capacity(); }
  std::size_t output_capacity() const noexcept { return output_.capacity(); }

 protected:
  enum class State : std::uint8_t { idle, greeting, ready, closed };
  enum class Step : std::uint8_t {
    need_input,  // no whole reply is buffered
    again,       // something is done, without an event
    event
  };
  // A value up to this size is copied behind its head; a larger one is written from where it lies.
  static constexpr std::size_t kCopyLimit = 8 * 1024;
  // Everything but values: texts, lines, numbers.
  static constexpr std::size_t kMaxText = 64 * 1024;
  static constexpr std::size_t kMaxStats = 1 << 20;

  explicit MemcachedSession(SessionOptions options);

  // What each protocol does in its own way. They may throw std::bad_alloc; write() has queued
  // nothing then, nor when it refuses.
  virtual std::optional<std::string> bad_credentials() const = 0;
  virtual void greet() = 0;
  virtual std::expected<Ticket, LocalError> write(const Operation& operation, Now now) = 0;
  virtual void write_probe() = 0;  // a no-op of our own
  virtual Step next_step(Event& event) = 0;

  // ---- for write(): requests
  // Room for `requests` and one frame of `bytes` around a value of `value` bytes.
  void reserve(std::size_t requests, std::size_t bytes, std::size_t value = 0);
  // The value behind what is in the buffer.
  void put_value(std::string_view value);
  void put_frame(Pending& request) { request.frame = output_.end(); }

  // ---- for next_step(): how a request ends
  // True if the reply may come now; else the connection is closed. A refusal, or a part of the
  // reply, may come while the request is still being written.
  bool may_answer(const Pending& request, bool early);
  Step answer(Pending& request, const Reply& reply, Event& event);
  // Of get_many: what is to say of the key at `index`; the request goes on.
  Step tell(Pending& request, std::uint32_t index, const Reply& reply, Event& event);
  static Reply too_large_reply() noexcept;
  Step refuse(Pending& request, Reason reason, std::string_view text, Event& event);
  // The same, and the connection ends behind it: the server has closed or is lost.
  Step refuse_and_end(Pending& request, Reason reason, std::string_view text, Event& event);
  Step add_stat(Pending& request, std::string_view name, std::string_view value);
  Step end_stats(Pending& request, Event& event);
  Step become_ready(Event& event);
  Step end_with(Reason reason, std::string text, bool permanent = false);
  Step broken(std::string_view what);
  // Passes over bytes of a value that nobody takes.
  Step skip_bytes();
  std::string_view version_text(std::uint64_t cas) noexcept;
  // From the text after VERSION.
  void learn_version(std::string_view text) {
    server_version_ = ServerVersion::parse(text);
    dialect_ = Dialect::this_one;
  }
  void learn_dialect(Dialect dialect) noexcept { dialect_ = dialect; }

  const SessionOptions& options() const noexcept { return options_; }
  bool has_credentials() const noexcept { return !options_.user.empty(); }
  bool is(State state) const noexcept { return state_ == state; }

  InputBuffer input_;
  OutputQueue output_;
  RequestQueue queue_;
  std::size_t skip_ = 0;

 private:
  template <class Action>
  void guarded(const Action& action);
  std::optional<LocalError> refusal_of(const Operation& operation) const;
  void end(CloseReason reason);
  bool next_failure(Event& event);
  bool early_answer(Event& event);
  Deadline next_probe() const noexcept;

  // A refusal that came while the value was being written: told when the value is free.
  struct Early {
    std::uint32_t sequence = 0;
    Reason reason = Reason::other;
    std::string text;
  };

  SessionOptions options_;
  State state_ = State::idle;
  CloseReason close_reason_;
  std::optional<CloseReason> end_next_;
  Counters counters_;
  std::optional<ServerVersion> server_version_;
  Dialect dialect_ = Dialect::unknown;
  std::optional<Early> early_;
  std::string early_text_;  // of the event that was told
  std::string stats_;       // of the request that is being answered
  bool stats_over_ = false;
  std::array<char, 20> version_text_{};

  Deadline handshake_due_{0};
  Deadline last_received_{0};
  std::optional<OutputQueue::FrameId> probe_;  // unanswered
  Deadline probe_due_{0};
  std::uint32_t next_failed_ = 0;  // sequence, once closed
  bool closed_told_ = false;
};

}  // namespace sheaf::protocol::memcached
