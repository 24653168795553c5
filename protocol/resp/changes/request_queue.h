#pragma once

// RequestQueue: the requests of one connection in their order (ordered_requests.h), and what is
// needed to read their replies. The Redis protocol pairs by order alone: nothing in a reply names
// its request. Only its type can be checked.
//
// A request owes one reply, with these exceptions:
//
// | request      | frame                 | replies, in order                               |
// |--------------|-----------------------|-------------------------------------------------|
// | many keys    | a command for each,   | one for each; `at` counts those that have come  |
// |              | or one MGET           | one array, whose elements are counted likewise  |
// |              | or one MSET           | one, for all                                    |
// | asking       | ASKING, its own, PING | one for each; `part` says which one comes next  |
// | transaction  | WATCH, GET, MULTI     | the same; that of GET is its own                |
// |              | a write, EXEC         | the same; that of EXEC is its own               |
// |              | or DISCARD            | one                                             |
//
// A transaction keeps its place until its last reply has come. What other requests write meanwhile
// is held back until the end of the transaction has left (changes.h).
//
// A redirect answers a command with a key, and names that key's slot: the slot of the request's
// key, of the key of a list that is due, or of any word of a command, since we do not know which
// words are keys. If the caller of the last two has given up, their texts are gone, and any slot is
// accepted.
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

// What was asked, by the answers that may come. An error may answer any of them.
enum class Question : std::uint8_t {
  value,           // GET, GETEX: a text, or null
  many,            // the same for each key, or an array of them
  store_many,      // SET: OK for each key; MSET: OK
  touch,           // PEXPIRE: 1, or 0
  touch_by_value,  // GETEX, whose value is not needed
  store,           // SET: OK; also null, if it has a condition
  exchange,        // SET with GET and the like: the value that the key had, a text, or null
  remove,          // DEL: 1, or 0
  probe,           // PING: PONG
  version,         // the same; the handshake has learned the version
  stats,           // INFO: a text
  command,         // anything: nothing is known of a command that is passed through
  commands,        // the same for each of several
  present,         // GET of a change: a text, or null
  script,          // EVAL of a change: 1, 0, -1; of one that counts a text, or null
  comparison,      // SET with IFEQ of a change: OK, or null; DELIFEQ: 1, or 0
  execute,         // EXEC of a change: an array of one; null if another client wrote meanwhile
  unwatch,         // UNWATCH: OK
  tracking,        // CLIENT TRACKING: OK
  watch,           // EXISTS: 1, or 0
  identity,        // HELLO: a map, or an array of pairs; CLUSTER MYID: a text
  login            // AUTH: OK
};

// `acts_early` is true for requests of several commands.
struct Pending : OrderedRequest {
  enum class Part : std::uint8_t { asking, watching, opening, queued, own, closing };
  // How one command for many keys, MGET or MSET, is answered; `none`: there is one for each key.
  enum class Array : std::uint8_t { none, awaited, open, refused, stored };
  static constexpr std::uint16_t no_slot = slot_count;

  Question question = Question::value;
  Part part = Part::own;
  bool asks = false;             // `closing` follows: the reply to PING
  bool opens = false;            // `opening` follows; without a write also DISCARD's reply
  bool conditional = false;      // store, exchange: only if the key is absent
  std::uint16_t slot = no_slot;  // its key's slot, if it has one key
  std::uint32_t keys = 0;        // many, store_many, commands
  std::uint32_t at = 0;          // likewise
  Array array = Array::none;     // likewise
  bool misses = false;           // many: a key was absent
  ValueVersion version{};        // store: of the new value
  // many, store_many, commands: the keys; command: its words. Owned by the caller: gone once the
  // request is forgotten.
  std::span<const std::string_view> texts{};
  std::span<const std::string_view> values{};  // store_many; likewise
  std::unique_ptr<Change> change{};
};

inline bool is_list(const Pending& request) noexcept {
  return request.question == Question::many || request.question == Question::store_many ||
         request.question == Question::commands;
}

// True if the request may be answered with a redirect for this slot.
bool concerns(const Pending& request, std::uint16_t slot) noexcept;

using RequestQueue = OrderedRequests<Pending>;

}  // namespace sheaf::protocol::resp
