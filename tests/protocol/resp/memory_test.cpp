// A warm connection needs no memory for what is asked most.

#include <gtest/gtest.h>

#include <string>

#include "protocol/resp/command_writer.h"
#include "protocol/resp/reply_reader.h"
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

}  // namespace
}  // namespace sheaf::protocol::resp
