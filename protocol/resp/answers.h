#pragma once

// Answers: what the replies of a ready connection mean, and how they end requests. Each reply
// belongs to the oldest request that owes one, and must be of a type that can answer this request:
//
// | reply                                   | then                                        |
// |-----------------------------------------|---------------------------------------------|
// | to AUTH                                 | renewal.h                                   |
// | to HELLO, CLUSTER MYID; READONLY        | identity_watch.h                            |
// | an error about the login, or after      | the connection ends; requests that it       |
// | which the server closes                 | certainly refused end as refused            |
// | a redirect for a slot that the request  | the protocol is broken: the connection ends |
// | has no key in                           |                                             |
// | any other error                         | the request ends as refused; MOVED and the  |
// |                                         | like with a Redirect                        |
// | of the right type                       | the request ends, or has an item            |
// | a value above value_limit, or a reply   | the request ends as refused: too_large; if  |
// | to a command above the session's limits | a write was carried out, as `executed`      |
// | of another type; of no request, or of   | the protocol is broken: the connection ends |
// | one that has not left                   |                                             |
//
// A command that is passed through may be answered by any type, and its whole reply is the value.
// The type is all that can be checked: a lost reply would go unnoticed if the next one has the same
// type. So any contradiction of the order ends the connection at once.
//
// A change continues with its next step until it is answered (changes.h).
//
// A request for many keys is answered key by key. Null means absent, if it is a get. A key of a get
// or set that was answered by an error is `unsure`: it must be requested alone. So are all keys of
// an MGET that was answered by an error, and each whose element is null: it may hold another type.
// The elements are read one by one, as the replies to GETs are, so each value has the limits of a
// value. The OK of an MSET answers all of its keys. A command's whole reply is its value.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <string>
#include <string_view>

#include "protocol/connection_life.h"
#include "protocol/resp/changes/changes.h"
#include "protocol/resp/changes/request_queue.h"
#include "protocol/resp/cluster/server_facts.h"
#include "protocol/resp/greeting/session_options.h"
#include "protocol/resp/identity_watch.h"
#include "protocol/resp/mget_use.h"
#include "protocol/resp/renewal.h"
#include "protocol/resp/tracking.h"
#include "protocol/resp/wire/reply_tree.h"
#include "protocol/resp/wire/server_error.h"

namespace sheaf::protocol::resp {

class Answers {
 public:
  // All outlive this object.
  Answers(const SessionOptions& options, const ServerFacts& server, ConnectionLife& life,
          RequestQueue& queue, Changes& changes, Tracking& tracking, Renewal& renewal,
          IdentityWatch& identity, MgetUse& mget, MsetUse& mset) noexcept
      : options_(options),
        server_(server),
        life_(life),
        queue_(queue),
        changes_(changes),
        tracking_(tracking),
        renewal_(renewal),
        identity_(identity),
        mget_(mget),
        mset_(mset) {}

  // Handles the next reply, given its bytes; not for pushes.
  Step on_reply(const Value& reply, std::string_view bytes, Event& event);
  // True if the next reply may exceed the limits, if it is of this type.
  bool may_be_large(std::optional<Type> type) noexcept;
  // The next step if the oldest request is for many keys, and it takes no tree of a reply: an event
  // after the last reply, what precedes the elements of an array, or a value. Nothing otherwise.
  // `at_beginning`: of a reply.
  std::optional<Step> go_on(bool at_beginning, Event& event);
  // True while the elements of an array are read.
  bool in_array() noexcept;

 private:
  bool may_come(const Pending& request) const noexcept;
  Step on_asking(Pending& request, const Value& reply);
  Step on_earlier(Pending& request, const Value& reply);
  Step on_change(Pending& request, const Value& reply, Event& event);
  Step on_closing(Pending& request, const Value& reply);
  Step on_own(Pending& request, const Value& reply, std::string_view bytes, Event& event);
  Step on_login(Pending& request, const Value& reply);
  Step on_tracking(Pending& request, const Value& reply);
  Step on_identity(Pending& request, const Value& reply);
  std::optional<Step> read_array_head(Pending& list);
  std::optional<Step> read_usual_text(Pending& list, Event& event);
  Step on_key(Pending& list, const Value& reply, std::string_view bytes, Event& event);
  Step on_item(Pending& list, const protocol::Reply& reply, Event& event);
  Step end_list(Pending& list, Event& event);
  Step on_fatal(Pending* request, const ServerError& error, Event& event);
  Step answer(Pending& request, const protocol::Reply& reply, Event& event);
  Step broken_type() { return life_.broken("a reply of an unexpected type"); }

  // Reads a reply that is no error; false if it cannot answer this request.
  bool read(const Pending& request, const Value& value, protocol::Reply& reply);
  bool read_value(const Value& value, protocol::Reply& reply) noexcept;
  protocol::Reply found(std::string_view value) noexcept;
  protocol::Reply stored(const Pending& list) noexcept;
  bool read_former(const Pending& request, const Value& value, protocol::Reply& reply) noexcept;
  bool read_stats(const Value& value, protocol::Reply& reply);
  void name_version(protocol::Reply& reply);

  const SessionOptions& options_;
  const ServerFacts& server_;
  ConnectionLife& life_;
  RequestQueue& queue_;
  Changes& changes_;
  Tracking& tracking_;
  Renewal& renewal_;
  IdentityWatch& identity_;
  MgetUse& mget_;
  MsetUse& mset_;
  ValueVersion event_version_;
  std::string event_text_;  // texts of the last event that are not in the input
};

}  // namespace sheaf::protocol::resp
