#pragma once

// What tests do to servers that they borrow (tests/support/lent.h), and undo at their end.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"

namespace sheaf::test {

inline RedisOptions with_users() {
  RedisOptions options;
  options.user = "app";
  options.password = "s3cret";
  options.lines = {"user no-ping on nopass ~* +@all -ping",
                   "user only-keys on nopass ~* -@all +get +set",
                   "user reader on >word ~mine:* -@all +get"};
  return options;
}

// A setting that has another value as long as this object exists.
class Setting {
 public:
  Setting(RespConnection& server, std::string name, const std::string& value)
      : server_(server), name_(std::move(name)) {
    const auto pair = server_.ask({"CONFIG", "GET", name_});
    for (const auto text : pair.root()) before_ = text.text();
    EXPECT_EQ(server_.text({"CONFIG", "SET", name_, value}), "+OK");
  }
  ~Setting() { EXPECT_EQ(server_.text({"CONFIG", "SET", name_, before_}), "+OK"); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  RespConnection& server_;
  std::string name_;
  std::string before_;
};

// The server is a replica as long as this object exists.
class Replication {
 public:
  Replication(RespConnection& replica, std::uint16_t primary) : replica_(replica) {
    EXPECT_EQ(replica_.text({"REPLICAOF", "127.0.0.1", std::to_string(primary)}), "+OK");
  }
  ~Replication() { EXPECT_EQ(replica_.text({"REPLICAOF", "NO", "ONE"}), "+OK"); }
  Replication(const Replication&) = delete;
  Replication& operator=(const Replication&) = delete;

 private:
  RespConnection& replica_;
};

}  // namespace sheaf::test
