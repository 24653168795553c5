// A warm connection makes the most common requests without allocating memory.

#include <gtest/gtest.h>

#include <string>

#include "protocol/resp/wire/command_writer.h"
#include "protocol/resp/wire/reply_reader.h"
#include "tests/protocol/resp/model_server.h"
#include "tests/protocol/scarce_memory.h"

namespace sheaf::protocol::resp {
namespace {

using Progress = ReplyReader::Progress;

TEST(RespMemory, SmallRepliesNeedNoneOnceWarm) {
  ReplyReader reader;
  ASSERT_EQ(reader.read("*3\r\n:1\r\n:2\r\n*1\r\n:3\r\n"), Progress::complete);
  const std::string text = "$1000\r\n" + std::string(1000, 'x') + "\r\n";
  const Scarce none(0);
  for (const std::string_view bytes : {"+OK\r\n", ":1\r\n", "$-1\r\n", "_\r\n", "-MOVED 1 a:1\r\n",
                                       text.c_str(), "*2\r\n:4\r\n$-1\r\n", "#t\r\n", ",1.5\r\n"}) {
    EXPECT_EQ(reader.read(bytes.substr(0, 1)), Progress::need_input);
    EXPECT_EQ(reader.read(bytes), Progress::complete);
  }
}

TEST(RespMemory, ATextIsReadWhereItLies) {
  ReplyReader reader;
  const std::string bytes = "*1\r\n$5\r\nhello\r\n";
  ASSERT_EQ(reader.read(bytes), Progress::complete);
  EXPECT_EQ(reader.root().at(0)->text().data(), bytes.data() + 8);
}

TEST(RespMemory, CommandsNeedNoneOnceWarm) {
  OutputQueue output;
  CommandWriter writer(output);
  const std::string large(100'000, 'v');
  const auto round = [&] {
    for (int i = 0; i < 10; ++i) {
      writer.write({"GET", "key"});
      writer.write({"SET", "key", large, "PX", 1000 + i});
    }
    output.taken(output.size());
  };
  round();
  const Scarce none(0);
  round();
}

TEST(RespMemory, ACommandThatDoesNotFitChangesNothing) {
  OutputQueue output;
  CommandWriter writer(output);
  writer.write({"PING"});
  const std::size_t before = output.size();
  {
    const Scarce none(0);
    EXPECT_THROW(writer.write({"SET", "key", std::string_view(), std::string_view()}),
                 std::bad_alloc);
  }
  EXPECT_EQ(output.size(), before);
  writer.write({"PING"});
  EXPECT_EQ(output.size(), 2 * before);
}

// ---- sessions

// Requests of every kind, answered by a model server.
class Asked {
 public:
  std::vector<Operation> operations() const {
    return {get("k1"),
            many(keys_),
            get("k3"),
            set("k5", "some value"),
            set("k7", large_),
            asking(get("k8")),
            living(with(set("k9", "v"), Condition::if_absent), 5s),
            operation(Verb::remove, "k10"),
            living(operation(Verb::touch, "k13"), 5s),
            operation(Verb::probe)};
  }

 private:
  const std::string large_ = std::string(20'000, 'v');
  const std::vector<std::string_view> keys_{"k1", "k2", "k3", "k4", "k5", "k6", "k11"};
};

void feed_at_once(Session& session, std::string_view bytes) {
  const auto space = session.input_space();
  ASSERT_GE(space.size(), bytes.size());
  std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), space.begin());
  session.on_input(bytes.size(), {});
}

TEST(RespMemory, AWarmSessionAllocatesNothingForRequestsAndReplies) {
  const Asked asked;
  const std::vector<Operation> operations = asked.operations();
  ModelServer server(false);
  RespSession session(test_options());
  session.start({});
  Event event;
  for (int round = 0; round < 200; ++round) {
    const long memory = round < 100 ? no_limit : 0;
    std::size_t accepted = 0;
    if (session.ready()) {
      const Scarce scarce(memory);
      for (const Operation& operation : operations) {
        if (session.submit(operation, {})) ++accepted;
      }
    }
    ASSERT_EQ(accepted, round < 2 ? 0u : operations.size()) << round;
    {
      const Scarce scarce(memory);
      ASSERT_FALSE(session.poll_output().empty());
    }
    server.receive(take_output(session, {}, static_cast<std::size_t>(-1)));
    feed_at_once(session, server.take());
    std::size_t ended = 0;
    std::size_t items = 0;
    const Scarce scarce(memory);
    while (session.poll_event(event)) {
      ended += event.kind == Event::Kind::reply ? 1 : 0;
      items += event.kind == Event::Kind::item ? 1 : 0;
    }
    ASSERT_EQ(ended, accepted) << round;
    ASSERT_EQ(items, accepted == 0 ? 0u : 5u) << round;
  }
}

TEST(RespMemory, RunningOutAnywhereRefusesOrClosesAndNothingIsThrown) {
  const Asked asked;
  std::size_t refused = 0;
  std::size_t accepted = 0;
  for (long memory = 0; memory < 12; ++memory) {
    for (const bool from_start : {false, true}) {
      ModelServer server(false);
      RespSession session(test_options());
      Event event;
      std::size_t open = 0;
      const auto exchange = [&](long left) {
        {
          const Scarce scarce(left);
          session.poll_output();
        }
        if (!session.closed()) server.receive(take_output(session, {}, 1'000'000));
        const std::string bytes = server.take();
        const Scarce scarce(left);
        const auto space = session.input_space();
        if (space.size() >= bytes.size()) {
          std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(),
                      space.begin());
          session.on_input(bytes.size(), {});
        }
        while (session.poll_event(event)) {
          if (event.kind == Event::Kind::reply || event.kind == Event::Kind::failed) --open;
        }
      };
      const long greeting = from_start ? memory : no_limit;
      {
        const Scarce scarce(greeting);
        session.start({});
      }
      exchange(greeting);
      exchange(greeting);
      for (int i = 0; i < 10; ++i) {
        for (const Operation& operation : asked.operations()) {
          if (session.room() == 0) continue;
          const Scarce scarce(memory);
          const auto ticket = session.submit(operation, {});
          ++(ticket ? accepted : refused);
          if (ticket) {
            ++open;
          } else {
            EXPECT_EQ(ticket.error().reason, Reason::out_of_memory);
          }
        }
      }
      exchange(memory);
      const Scarce scarce(memory);
      session.close({});
      while (session.poll_event(event)) {
        if (event.kind == Event::Kind::reply || event.kind == Event::Kind::failed) --open;
      }
      EXPECT_EQ(open, 0u) << memory;
      EXPECT_TRUE(session.closed());
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(accepted, 500u);
}

}  // namespace
}  // namespace sheaf::protocol::resp
