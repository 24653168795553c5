#pragma once

// Changes: how the writes that depend on the current value of their keys (change.h) are done on one
// connection.
//
// | way         | where                  | steps of a change                                     |
// |-------------|------------------------|-------------------------------------------------------|
// | comparison  | Valkey: sets from 8.1, | by version: GET, then SET with IFEQ, or DELIFEQ, and  |
// |             | removes from 9.0       | the value that was found; remove if value: DELIFEQ.   |
// |             |                        | If it is not equal: GET, and perhaps once more        |
// | script      | Redis, Valkey, unknown | by version: GET, then EVAL with the value that was    |
// |             |                        | found; others: EVAL. A script runs alone              |
// | transaction | Garnet; where scripts  | WATCH, GET and MULTI, then the write and EXEC, or     |
// |             | are refused            | DISCARD. If another client wrote meanwhile: again     |
//
// A comparison costs the server a third of what the script costs, but reports neither whether the
// key exists nor its value (docs/design/0041-commands-that-compare.md).
//
// Scripts of Garnet do not run alone. Its commands with ETags compare numbers that a plain SET
// leaves unchanged, and that restart at 1 with each new key (docs/design/0025-changes-by-value.md).
//
// If MULTI is refused (by an ACL, which may change at any time), a write sent together with it is
// executed at once, whatever the key holds. So the write is sent only after MULTI was answered by
// OK: then EXEC executes it, or nothing does. Until the write and EXEC, or DISCARD, are sent, all
// other requests wait after MULTI, or they would become a part of the transaction. The wait is one
// round trip. MULTI is sent together with the read, so it adds no round trip to the change.
//
// The next EXEC on a connection forgets all that the connection watches. So a connection does one
// transaction at a time, and other changes are set aside meanwhile. ASKING does not apply to a
// transaction on Garnet, so a change of a key that is moving to another node is refused as TRYAGAIN
// and sent again later.
//
// | step    | reply                               | then                                        |
// |---------|-------------------------------------|---------------------------------------------|
// | read    | value, or null                      | judged (change.h): answered, or next step.  |
// |         |                                     | In a transaction only the next reply does   |
// |         |                                     | that                                        |
// | open    | OK                                  | the write and EXEC; if there is nothing to  |
// |         |                                     | write, or no caller, DISCARD: answered      |
// |         | an error                            | answered: refused                           |
// | compare | OK or 1: the write is done          | answered                                    |
// |         | null or 0: another value, or no key | read: it says which                         |
// |         | the command is unknown or forbidden | the same by a script from now on            |
// | script  | 1, 0, -1; a number as text, or null | answered                                    |
// |         | scripts are unknown or forbidden    | read, by transaction from now on            |
// | execute | an array with the write's reply     | answered                                    |
// |         | null: another client has written    | read                                        |
// |         | EXEC is unknown or forbidden, or    | answered: refused; the connection ends,     |
// |         | the write was refused and the array | because Garnet leaves the transaction open, |
// |         | is empty                            | or sends one reply too many                 |
// | any     | another error                       | answered: refused                           |
//
// Until its last step a change has written nothing: if the connection is lost before, it was not
// sent.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string_view>

#include "protocol/resp/changes/change.h"
#include "protocol/resp/changes/request_queue.h"
#include "protocol/resp/cluster/server_facts.h"
#include "protocol/resp/greeting/session_options.h"
#include "protocol/resp/wire/reply_tree.h"

namespace sheaf::protocol::resp {

class Changes {
 public:
  // All outlive this object.
  Changes(const SessionOptions& options, const ServerFacts& server, RequestQueue& queue,
          OutputQueue& output) noexcept
      : options_(options), server_(server), queue_(queue), output_(output), commands_(output) {}

  // Starts the first step of a change. If it throws std::bad_alloc, nothing has changed.
  Ticket begin(const Operation& operation);
  // Called before output: ends an open transaction, and begins a change that was set aside if its
  // turn has come. False: the end of a transaction was cancelled before it had left, so the
  // connection must end.
  [[nodiscard]] bool go_on();

  enum class Progress : std::uint8_t {
    answered,  // `reply` is filled in
    last,      // the same, and the connection must end: it may be in a transaction or out of step
    goes_on,   // with another step
    broken     // not a reply to this step
  };
  // Handles the reply to a step; if it returns goes_on, `request` is no longer valid. May throw
  // std::bad_alloc.
  Progress on_reply(Pending& request, const Value& value, protocol::Reply& reply);
  // Handles the replies before it: to WATCH, and to queued commands. False if it is neither.
  bool on_earlier(Pending& request, const Value& value);

 private:
  //   none    -> opening  WATCH, GET and MULTI are written
  //   opening -> open     MULTI was answered by OK
  //           -> none     it was refused
  //   open    -> ending   the write and EXEC are written
  //           -> none     DISCARD is written
  //   ending  -> none     EXEC was answered
  enum class Transaction : std::uint8_t { none, opening, open, ending };

  bool by_transaction() const noexcept { return no_scripts_ || server_.is(Software::garnet); }
  bool by_comparison(const Change& change) const noexcept;
  bool watches(const Change& change) const noexcept {
    return by_transaction() && !change.asking && !by_comparison(change);
  }
  // Also if the end of an open transaction was cancelled.
  bool busy() noexcept { return is_open() || transaction() != nullptr; }
  Pending* transaction() noexcept {
    return transaction_ != Transaction::none ? queue_.find(watching_) : nullptr;
  }
  bool is_open() const noexcept { return transaction_ >= Transaction::open; }

  // ---- the steps of a request that has its place
  void write_first(Pending& request);
  Pending& next_place(Pending& request);
  void write_read(Pending& request);
  void write_comparison(Pending& request);
  void write_script(Pending& request);
  void write_transaction(Pending& request);
  void discard(Pending& request);
  void write_alone(Pending& request, Command command);
  void unwatch();

  Progress on_present(Pending& request, const Value& value, protocol::Reply& reply);
  Progress on_opened(Pending& request, const Value& value, protocol::Reply& reply);
  Progress on_compared(Pending& request, const Value& value, protocol::Reply& reply);
  Progress on_script(Pending& request, const Value& value, protocol::Reply& reply);
  Progress read_count(const Value& value, protocol::Reply& reply) const noexcept;
  Progress on_executed(Pending& request, const Value& value, protocol::Reply& reply);
  void add_version(const Change& change, protocol::Reply& reply) noexcept;

  const SessionOptions& options_;
  const ServerFacts& server_;
  RequestQueue& queue_;
  OutputQueue& output_;
  CommandWriter commands_;
  bool no_comparisons_ = false;
  bool no_scripts_ = false;
  Transaction transaction_ = Transaction::none;
  std::uint32_t watching_ = 0;  // the sequence of its request
  Verdict verdict_;             // the verdict on its read
  protocol::Reply result_;      // the result if there is nothing to write
  bool unwatches_ = false;      // UNWATCH is due
  ValueVersion version_;        // the last reply has a view of it
};

}  // namespace sheaf::protocol::resp
