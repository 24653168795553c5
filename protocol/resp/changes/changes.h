#pragma once

// Changes: how the writes that depend on the present value of their keys (change.h) are done on one
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
// |             | are refused            | DISCARD. If somebody has written meanwhile: once more |
//
// A comparison costs the server a third of what the script costs, and says neither whether there is
// a key nor what it has (docs/design/0041-commands-that-compare.md).
//
// Scripts of Garnet do not run alone. Its commands with ETags compare numbers that a plain SET
// leaves as they are, and that begin again at 1 with each new key
// (docs/design/0025-changes-by-value.md).
//
// A write that leaves together with its MULTI is carried out at once, and whatever the key holds,
// if MULTI is refused (by an ACL, which may change at any time). So it leaves only once MULTI was
// answered by OK: then the server does it by EXEC or not at all. Until the write and EXEC, or
// DISCARD, are there, whatever else is written waits behind MULTI, or it would be a part of the
// transaction: for one round trip. As MULTI comes with the read, a change takes no longer for it.
//
// What a connection watches, the next EXEC on it forgets. So it does one transaction at a time, and
// other changes are set aside meanwhile. ASKING does not hold for a transaction on Garnet, so a
// change of a key on its way to another node is refused as TRYAGAIN: it is sent again later.
//
// | step    | reply                               | then                                        |
// |---------|-------------------------------------|---------------------------------------------|
// | read    | value, or null                      | judged (change.h): answered, or next step.  |
// |         |                                     | In a transaction only the next reply does   |
// |         |                                     | that                                        |
// | open    | OK                                  | the write and EXEC; if there is nothing to  |
// |         |                                     | write, or nobody waits, DISCARD: answered   |
// |         | an error                            | answered: refused                           |
// | compare | OK or 1: the write is done          | answered                                    |
// |         | null or 0: another value, or no key | read: it says which                         |
// |         | the command is unknown or forbidden | the same by a script from now on            |
// | script  | 1, 0, -1; a number as text, or null | answered                                    |
// |         | scripts are unknown or forbidden    | read, by transaction from now on            |
// | execute | an array with the write's reply     | answered                                    |
// |         | null: somebody has written          | read                                        |
// |         | EXEC is unknown or forbidden, or    | answered: refused; the connection ends,     |
// |         | the write was refused and the array | because Garnet leaves the transaction open, |
// |         | is empty                            | or sends a reply too many                   |
// | any     | another error                       | answered: refused                           |
//
// Before its last step a change has written nothing: if the connection is lost, it was not sent.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/resp/changes/change.h"
#include "protocol/resp/changes/request_queue.h"
#include "protocol/resp/cluster/server_facts.h"
#include "protocol/resp/greeting/session_options.h"
#include "protocol/resp/wire/reply_tree.h"

namespace sheaf::protocol::resp {

class Changes {
 public:
  // All outlive it.
  Changes(const SessionOptions& options, const ServerFacts& server, RequestQueue& queue,
          OutputQueue& output) noexcept
      : options_(options), server_(server), queue_(queue), output_(output), commands_(output) {}

  // The first step of a change. Nothing has changed when it throws std::bad_alloc.
  Ticket begin(const Operation& operation);
  // Before output: ends a transaction that is open, and begins what was set aside if its turn has
  // come. False: the end of a transaction was given up before it had left, so the connection ends.
  [[nodiscard]] bool go_on();

  enum class Progress : std::uint8_t {
    answered,  // `reply` is filled in
    last,      // the same, and then the connection ends: the transaction may still be open, or its
               // replies are not as many as its commands
    goes_on,   // with another step
    broken     // no reply to this step
  };
  // The reply to a step; `request` is no longer valid if it goes on. May throw std::bad_alloc.
  Progress on_reply(Pending& request, const Value& value, protocol::Reply& reply);
  // The replies that come before it: to WATCH, and what is queued. False if it is none.
  bool on_earlier(Pending& request, const Value& value);

 private:
  bool by_transaction() const noexcept { return no_scripts_ || server_.is(Software::garnet); }
  bool by_comparison(const Change& change) const noexcept;
  bool watches(const Change& change) const noexcept {
    return by_transaction() && !change.asking && !by_comparison(change);
  }
  bool busy() noexcept { return transaction() != nullptr; }
  Pending* transaction() noexcept { return watching_ ? queue_.find(*watching_) : nullptr; }

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
  std::optional<std::uint32_t> watching_;  // sequence of the request whose transaction goes on
  bool is_open_ = false;                   // on the server, and its end has not been answered
  bool ends_ = false;                      // its end is written
  Verdict verdict_;                        // of its read
  protocol::Reply result_;                 // if there is nothing to write
  bool unwatches_ = false;                 // once it is over
  ValueVersion version_;                   // of the last reply, which has a view of it
};

}  // namespace sheaf::protocol::resp
