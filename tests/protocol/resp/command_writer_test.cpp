#include "protocol/resp/wire/command_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "protocol/resp/wire/reply_reader.h"
#include "tests/protocol/resp/reply_text.h"

namespace sheaf::protocol::resp {
namespace {

using namespace std::string_view_literals;

std::string all_bytes(OutputQueue& output) {
  std::string bytes;
  for (const Bytes part : output.parts()) bytes += as_text(part);
  output.taken(bytes.size());
  return bytes;
}

std::string written(std::initializer_list<Argument> command) {
  OutputQueue output;
  CommandWriter(output).write(command);
  return all_bytes(output);
}

TEST(CommandWriter, WritesAnArrayOfTexts) {
  EXPECT_EQ(written({"PING"}), "*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(written({"SET", "k", "a\r\n\0b"sv, "PX", 1500}),
            "*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\na\r\n\0b\r\n$2\r\nPX\r\n$4\r\n1500\r\n"sv);
  EXPECT_EQ(written({"GET", ""}), "*2\r\n$3\r\nGET\r\n$0\r\n\r\n");
}

TEST(CommandWriter, WritesNumbersToTheirLimits) {
  EXPECT_EQ(written({"X", 0, -1}), "*3\r\n$1\r\nX\r\n$1\r\n0\r\n$2\r\n-1\r\n");
  EXPECT_EQ(written({std::numeric_limits<std::int64_t>::min()}),
            "*1\r\n$20\r\n-9223372036854775808\r\n");
  EXPECT_EQ(written({std::numeric_limits<std::uint64_t>::max()}),
            "*1\r\n$20\r\n18446744073709551615\r\n");
  EXPECT_EQ(written({std::int8_t{-128}, std::uint16_t{10}}), "*2\r\n$4\r\n-128\r\n$2\r\n10\r\n");
}

TEST(CommandWriter, CommandsThatBelongTogetherAreOneFrame) {
  OutputQueue output;
  CommandWriter writer(output);
  const std::array<Argument, 1> asking{"ASKING"};
  const std::array<Argument, 2> get{"GET", "k"};
  const std::array<Command, 2> both{asking, get};
  const auto frame = writer.write_together(both);
  EXPECT_EQ(frame + 1, writer.write({"PING"}));
  output.erase(frame);
  EXPECT_EQ(all_bytes(output), "*1\r\n$4\r\nPING\r\n") << "neither has left";
  writer.write_together(both);
  EXPECT_EQ(all_bytes(output), "*1\r\n$6\r\nASKING\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
}

TEST(CommandWriter, ACommandForEachTextIsOneFrameAndCopied) {
  OutputQueue output;
  CommandWriter writer(output);
  std::string large(OutputQueue::copy_limit + 1, 'k');
  const std::array<std::string_view, 3> keys{"a", "", large};
  const OutputQueue::FrameId frame = writer.write_each("GET", keys);
  large.assign(large.size(), 'x');
  const std::string bytes = all_bytes(output);
  const std::string copy(OutputQueue::copy_limit + 1, 'k');
  EXPECT_EQ(bytes, written({"GET", "a"}) + written({"GET", ""}) + written({"GET", copy}));
  EXPECT_EQ(output.progress(frame), OutputQueue::Progress::written);
  EXPECT_EQ(writer.write({"PING"}), frame + 1);
}

TEST(CommandWriter, TheLargestTextIsReferencedOnceItIsLarge) {
  const std::string small(OutputQueue::copy_limit, 's');
  const std::string large(OutputQueue::copy_limit + 1, 'l');
  const std::string larger(OutputQueue::copy_limit + 2, 'm');
  const auto referenced = [](OutputQueue& output, const std::string& text) {
    for (const Bytes part : output.parts()) {
      if (as_text(part).data() == text.data()) return true;
    }
    return false;
  };
  OutputQueue output;
  CommandWriter writer(output);
  writer.write({"SET", "k", small});
  EXPECT_FALSE(referenced(output, small));
  output.clear();
  writer.write({"SET", large, larger, "NX"});
  EXPECT_FALSE(referenced(output, large)) << "one for each frame";
  EXPECT_TRUE(referenced(output, larger));
  EXPECT_EQ(all_bytes(output),
            "*4\r\n$3\r\nSET\r\n$8193\r\n" + large + "\r\n$8194\r\n" + larger + "\r\n$2\r\nNX\r\n");
}

// A command is an array of texts, so sheaf's own reader accepts it.
TEST(CommandWriter, WhatIsWrittenCanBeRead) {
  OutputQueue output;
  CommandWriter(output).write({"MSET", "a", 1, "b", "x y"});
  const std::string bytes = all_bytes(output);
  ReplyReader reader;
  ASSERT_EQ(reader.read(bytes), ReplyReader::Progress::complete);
  EXPECT_EQ(reply_text(reader.root()), R"(["MSET" "a" "1" "b" "x y"])");
  EXPECT_EQ(reader.size(), bytes.size());
}

}  // namespace
}  // namespace sheaf::protocol::resp
