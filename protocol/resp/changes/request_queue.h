#pragma once

// RequestQueue: the requests of one connection in their order (ordered_requests.h), and what is
// needed to read their replies. The Redis protocol pairs by order alone: nothing in a reply names
// its request. What can be checked is its type.
//
// A request owes one reply, with these exceptions:
//
// | request      | frame                 | replies, in order                               |
// |--------------|-----------------------|-------------------------------------------------|
// | of many keys | a GET for each        | one for each; `at` counts those that have come  |
// | asking       | ASKING, its own, PING | one for each; `part` says which one comes next  |
// | transaction  | WATCH, GET, MULTI     | the same; that of GET is its own                |
// |              | a write, EXEC         | the same; that of EXEC is its own               |
// |              | or DISCARD            | one                                             |
//
// The place of a transaction stays until its last reply has come: what other requests write
// meanwhile is kept back until its end has left (changes.h).
//
// A redirect answers a command with a key, and names the slot of that: of the request's key, of the
// key of `many` that is due, or of any word of a command, for nobody here knows which are keys. If
// the caller of the last two has given up, their texts are gone, and any slot will do.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "protocol/ordered_requests.h"
#include "protocol/resp/changes/change.h"
#include "protocol/resp/wire/hash_slot.h"

namespace sheaf::protocol::resp {

// What was asked, by what may be answered. An error may be the answer to each.
enum class Question : std::uint8_t {
  value,           // GET, GETEX: a text, or null
  many,            // the same for each key
  touch,           // PEXPIRE: 1, or 0
  touch_by_value,  // GETEX, whose value nobody wants
  store,           // SET: OK; also null, if it has a condition
  exchange,        // SET with GET: what was there, a text, or null
  remove,          // DEL: 1, or 0
  probe,           // PING: PONG
  version,         // the same; what the server is was asked in the handshake
  stats,           // INFO: a text
  command,         // anything: of a command that is passed through nothing is known
  present,         // GET of a change: a text, or null
  script,          // EVAL of a change: 1, 0, -1; of one that counts a text, or null
  comparison,      // SET with IFEQ of a change: OK, or null; DELIFEQ: 1, or 0
  execute,         // EXEC of a change: an array of one; null, if somebody has written meanwhile
  unwatch,         // UNWATCH: OK
  tracking,        // CLIENT TRACKING: OK
  watch,           // EXISTS: 1, or 0
  login            // AUTH: OK
};

// `acts_early` is that of requests of several commands.
struct Pending : OrderedRequest {
  enum class Part : std::uint8_t { asking, watching, opening, queued, own, closing };
  static constexpr std::uint16_t no_slot = slot_count;

  Question question = Question::value;
  Part part = Part::own;
  bool asks = false;             // `closing` follows: the reply to PING
  bool opens = false;            // `opening` follows, and if nothing is written that of DISCARD
  bool conditional = false;      // store; exchange: if there is nothing
  std::uint16_t slot = no_slot;  // of its one key
  std::uint32_t keys = 0;        // many
  std::uint32_t at = 0;          // many
  ValueVersion version{};        // store: of what is stored
  // many: the keys; command: its words. The caller's: gone once the request is forgotten.
  std::span<const std::string_view> texts{};
  std::unique_ptr<Change> change{};
};

// Whether a server may answer so: with a redirect for this slot.
bool concerns(const Pending& request, std::uint16_t slot) noexcept;

using RequestQueue = OrderedRequests<Pending>;

}  // namespace sheaf::protocol::resp
