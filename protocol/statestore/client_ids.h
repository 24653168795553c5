#pragma once

// ClientIds: the client IDs of the connections to one node, if the configuration gives the whole ID
// (`client_id_exact`), so that a broker's rules can name every connection.
//
// | connection                                    | client ID                       |
// |-----------------------------------------------|---------------------------------|
// | the first one for requests                    | ID                              |
// | further ones for requests, at the same time   | ID-2, ID-3, ...                 |
// | the one that watches                          | ID-watch                        |
// | the one that asks whether the node is back    | ID-probe                        |
//
// A connection has its ID from its CONNECT to its end, and the next connection for the same use
// takes the first free one. So a connection that takes the place of another has the same ID, and no
// two open connections of a client have the same: if the server gives the session to another
// connection, that is not one of ours, except for an attempt that we have given up and that reaches
// the server late (node/takeovers.h).
//
// A process that starts again has the IDs of the one before, and its response topic. It cannot
// take an answer to the other's request for one of its own, nor can the store answer its request
// from the memory for duplicates: both compare the correlation data of each request, 16 bytes from
// a ChaCha20 stream whose seed comes from the system's entropy (RequestWriter::add). Sessions begin
// clean, so the server has no messages of the process before, and what it still sends late has
// correlation data that no request here has. Timestamps differ too: the clock's name has a random
// part (sessions.cpp), so a process also learns from the versions that the one before has written.
//
// Thread rule: belongs to one lane.
// Pure: no socket, clock, entropy, thread or callback.

#include <string>
#include <utility>
#include <vector>

#include "protocol/connection_life.h"
#include "protocol/session_factory.h"

namespace sheaf::protocol::statestore {

class ClientIds {
 public:
  explicit ClientIds(std::string exact) : exact_(std::move(exact)) {}

  // The first ID for this use that no open connection has. It is taken until `holder` is closed or
  // gives it back.
  std::string take(SessionUse use, const ConnectionLife& holder);
  // Must be called before `holder` is destroyed.
  void give_back(const ConnectionLife& holder) noexcept;

 private:
  struct Taken {
    std::string id;
    const ConnectionLife* holder;
  };

  std::string exact_;
  std::vector<Taken> taken_;
};

}  // namespace sheaf::protocol::statestore
