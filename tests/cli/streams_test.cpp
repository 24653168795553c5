#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "cli/system/input.h"
#include "cli/system/output.h"
#include "cli/system/progress.h"

namespace sheaf::cli {
namespace {

using testing::ElementsAre;

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_), 0); }
  ~Pipe() {
    close_read();
    close_write();
  }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_read() { close_end(ends_[0]); }
  void close_write() { close_end(ends_[1]); }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  int ends_[2] = {-1, -1};
};

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
  return bytes;
}

TEST(CliOutput, BytesOfAnySizeArriveInOrder) {
  Pipe pipe;
  const std::string large = pattern(1u << 20);
  std::thread writer([&] {
    Output out(pipe.write_end());
    out.write("head");
    out.write(large);
    out.line("tail");
    EXPECT_TRUE(out.flush());
    pipe.close_write();
  });
  const auto got = read_all(pipe.read_end(), 2u << 20);
  writer.join();
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(*got, "head" + large + "tail\n");
}

TEST(CliOutput, ANonBlockingReaderThatIsSlowLosesNothing) {
  Pipe pipe;
  ASSERT_EQ(fcntl(pipe.write_end(), F_SETFL, O_NONBLOCK), 0);
  const std::string large = pattern(1u << 20);
  std::thread writer([&] {
    Output out(pipe.write_end());
    out.write(large);
    EXPECT_TRUE(out.flush());
    pipe.close_write();
  });
  const auto got = read_all(pipe.read_end(), 2u << 20);
  writer.join();
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(*got, large);
}

TEST(CliOutput, AReaderThatWentAwayIsAnErrorAndNoSignal) {
  const auto before = signal(SIGPIPE, SIG_DFL);
  prepare_standard_streams();
  Pipe pipe;
  pipe.close_read();
  Output out(pipe.write_end());
  out.write("x");
  EXPECT_FALSE(out.flush());
  EXPECT_EQ(out.error(), EPIPE);
  out.write("y");
  EXPECT_FALSE(out.flush());
  (void)signal(SIGPIPE, before);
}

TEST(CliOutput, AFullDiskIsAnError) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  Output out(full);
  out.line("x");
  EXPECT_FALSE(out.failed());
  EXPECT_FALSE(out.flush());
  EXPECT_EQ(out.error(), ENOSPC);
  close(full);
}

TEST(CliInput, ExactlyTheLimitIsReadAndOneByteMoreIsRefused) {
  for (const std::size_t size : {0u, 1u, 65'535u, 65'536u, 65'537u, 200'000u}) {
    Pipe pipe;
    Pipe second;
    const std::string bytes = pattern(size);
    std::thread writer([&] {
      for (Pipe* each : {&pipe, &second}) {
        Output out(each->write_end());
        out.write(bytes);
        out.flush();
        each->close_write();
      }
    });
    const auto exact = read_all(pipe.read_end(), size);
    ASSERT_TRUE(exact) << exact.error();
    EXPECT_EQ(*exact, bytes);
    if (size != 0) {
      EXPECT_FALSE(read_all(second.read_end(), size - 1));
    }
    second.close_read();
    writer.join();
  }
}

TEST(CliInput, ADescriptorThatCannotBeReadIsOneSentence) {
  const auto got = read_all(-1, 10);
  ASSERT_FALSE(got);
  EXPECT_TRUE(got.error().starts_with("cannot read standard input: ")) << got.error();
}

TEST(CliInput, LinesEndWithALineFeedAndNothingElse) {
  EXPECT_THAT(split_lines(""), ElementsAre());
  EXPECT_THAT(split_lines("a"), ElementsAre("a"));
  EXPECT_THAT(split_lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(split_lines("a\r\n\n b \n"), ElementsAre("a\r", "", " b "));
  EXPECT_THAT(split_lines("\n"), ElementsAre(""));
}

TEST(CliLines, ComeOneByOneFromAPipe) {
  Pipe pipe;
  LineReader lines(pipe.read_end(), 10);
  std::thread writer([&] {
    for (const char* part : {"a", "b\n", "\nccc", "ccc\nrest"}) {
      ASSERT_GT(::write(pipe.write_end(), part, std::strlen(part)), 0);
    }
    pipe.close_write();
  });
  EXPECT_EQ(lines.next(), "ab");
  EXPECT_EQ(lines.next(), "");
  EXPECT_EQ(lines.next(), "cccccc");
  EXPECT_EQ(lines.next(), "rest");
  EXPECT_EQ(lines.next(), std::nullopt);
  writer.join();
  EXPECT_EQ(lines.error(), "");
  EXPECT_EQ(lines.lines(), 4u);
  EXPECT_FALSE(lines.rewind());
  EXPECT_EQ(lines.total(), 0u);
}

TEST(CliLines, AreTheSameHoweverTheyAreCut) {
  std::string text;
  std::vector<std::string> wanted;
  for (int i = 0; i < 30'000; ++i) {
    wanted.emplace_back(static_cast<std::size_t>(i * 7919 % 61), static_cast<char>('a' + i % 26));
    text += wanted.back() + "\n";
  }
  std::FILE* const file = std::tmpfile();
  ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
  std::fflush(file);
  const int descriptor = fileno(file);
  ASSERT_EQ(lseek(descriptor, 0, SEEK_SET), 0);
  LineReader lines(descriptor, 100);
  EXPECT_EQ(lines.total(), text.size());
  for (int round = 0; round < 2; ++round) {
    for (const std::string& line : wanted) ASSERT_EQ(lines.next(), line);
    EXPECT_EQ(lines.next(), std::nullopt);
    EXPECT_EQ(lines.bytes(), text.size());
    EXPECT_TRUE(lines.rewind());
  }
  std::fclose(file);
}

TEST(CliLines, OneThatIsTooLongIsAnErrorThatNamesIt) {
  Pipe pipe;
  const std::string text = "short\n" + std::string(2'000, 'x') + "\n";
  ASSERT_EQ(::write(pipe.write_end(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  pipe.close_write();
  LineReader lines(pipe.read_end(), 1'000);
  EXPECT_EQ(lines.next(), "short");
  EXPECT_EQ(lines.next(), std::nullopt);
  EXPECT_EQ(lines.error(), "line 2 is longer than the limit of 1000 bytes");
}

TEST(CliProgress, SaysHowMuchIsDoneHowFastAndWhatIsLeft) {
  using std::chrono_literals::operator""s;
  EXPECT_EQ(progress_text("keys", 12'345, 3s, 0, 0), "12,345 keys, 4,115 a second");
  EXPECT_EQ(progress_text("keys", 1'000'000, 10s, 250, 1'000),
            "1,000,000 keys, 100,000 a second, 25 % of the input, 30 s left");
  EXPECT_EQ(progress_text("items", 0, 0s, 0, 10), "0 items, 0 a second");
}

}  // namespace
}  // namespace sheaf::cli
