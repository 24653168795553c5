#pragma once

// Servers with logins that several tests borrow (tests/support/lent.h).

#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
#include "tests/support/redis_process.h"
#endif

namespace sheaf::test {

#ifdef SHEAF_TEST_BROKERS
// Delays small packets, as Mosquitto does by default.
inline BrokerOptions broker_with_a_login() {
  BrokerOptions options;
  options.users = {{"app", "s3cret"}};
  options.nodelay = false;
  return options;
}
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
inline MemcachedOptions memcached_with_logins(MemcachedOptions::LogIn log_in) {
  MemcachedOptions options;
  options.log_in = log_in;
  options.users = {{"cache", "s3cret"}, {"other", "word"}, {"app", "s3cret"}};
  return options;
}
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
inline RedisOptions redis_with_a_login() {
  RedisOptions options;
  options.user = "app";
  options.password = "s3cret";
  return options;
}
#endif

}  // namespace sheaf::test
