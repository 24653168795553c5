#pragma once

// Options of brokers that several tests borrow (tests/support/lent.h).

#include <string>

#include "tests/live/plugin/store_client.h"
#include "tests/support/broker_process.h"

namespace sheaf::test {

// Every option of the plugin that does not disturb the tests of the others: two keys at most,
// notifications for subscribers only, answers on the client's own topics only.
inline BrokerOptions with_many_options() {
  BrokerOptions options;
  options.plugin_options = {{"max_keys", "2"}, {"notify", "subscribed"}, {"reply_topics", "own"}};
  return options;
}

// Users without a file of rights. The broker lets ann write and read all topics, and alice write
// requests.
inline BrokerOptions with_access_control() {
  BrokerOptions options;
  options.users = {{"ann", "ann"}, {"alice", "secret"}};
  options.acl =
      "user ann\ntopic readwrite #\nuser alice\ntopic write " + std::string(store_request) + "\n";
  return options;
}

}  // namespace sheaf::test
