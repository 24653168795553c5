#pragma once

// ListControls: the rules that make lists safe. Only tests switch one off, to show what is lost
// without it.
//
// Pure: no socket, clock, entropy, thread or callback.

namespace sheaf::client::list {

struct ListControls {
  bool new_segments = true;  // a segment that changes is written as a new one
  bool claim = true;         // state store: an attempt claims the head before it uses it
  // memcached:
  bool compare = true;          // a commit compares the version of the head
  bool touch_first = true;      // items become permanent before a commit names them
  bool same_connection = true;  // all commands of an attempt use one connection
};

}  // namespace sheaf::client::list
