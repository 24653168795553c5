// The servers that tests start: what they keep, where they listen, which clients they accept.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>

#include "tests/support/lent.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

// Listens on a reserved port of 127.0.0.1, so that a server cannot.
class Squatter {
 public:
  explicit Squatter(std::uint16_t port)
      : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    listens_ =
        ::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(descriptor_, 1) == 0;
  }
  ~Squatter() { ::close(descriptor_); }
  Squatter(const Squatter&) = delete;
  Squatter& operator=(const Squatter&) = delete;
  bool listens() const { return listens_; }

 private:
  int descriptor_;
  bool listens_ = false;
};

TEST(RedisServer, ComesBackEmptyOnItsPort) {
  RedisProcess server;
  EXPECT_EQ(RespConnection(server.port()).text({"SET", "k", "v"}), "+OK");
  const std::uint16_t port = server.port();
  server.kill();
  EXPECT_FALSE(cli::BlockingConnection::open(port)) << "refused while the server is gone";
  server.restart();
  EXPECT_EQ(server.port(), port);
  EXPECT_EQ(RespConnection(port).text({"GET", "k"}), "null");
}

TEST(RedisServer, KeepsWhatWasWrittenIfItShall) {
  RedisOptions options;
  options.persistent = true;
  RedisProcess server(options);
  EXPECT_EQ(RespConnection(server.port()).text({"SET", "k", "v"}), "+OK");
  const std::uint16_t port = server.port();
  server.kill();
  server.restart_elsewhere();
  EXPECT_NE(server.port(), port);
  EXPECT_EQ(RespConnection(server.port()).text({"GET", "k"}), "\"v\"");
  EXPECT_EQ(server.terminate(), 0);
}

TEST(RedisServer, AnswersNothingWhileItIsStopped) {
  Lent<RedisProcess> server;
  server.to_break().stop();
  auto connection = cli::BlockingConnection::open(server->port(), std::chrono::milliseconds(100));
  ASSERT_TRUE(connection) << "the kernel still accepts";
  EXPECT_FALSE(connection->ask({"PING"}));
  server.to_break().resume();
  EXPECT_EQ(RespConnection(server->port()).text({"PING"}), "+PONG");
}

TEST(RedisServer, AReplicaOfAServerWithAUser) {
  RedisOptions options;
  options.user = "app";
  options.password = "s3cret";
  const RedisProcess primary(options);
  RespConnection writer(primary.port());
  EXPECT_EQ(writer.text({"SET", "k", "v"}), "-NOAUTH Authentication required.");
  EXPECT_EQ(writer.text({"AUTH", "app", "s3cret"}), "+OK");
  EXPECT_EQ(writer.text({"SET", "k", "v"}), "+OK");
  options.replica_of = primary.port();
  const RedisProcess replica(options);
  RespConnection reader(replica.port());
  EXPECT_EQ(reader.text({"AUTH", "app", "s3cret"}), "+OK");
  wait_for_condition("the replica has it", [&] { return reader.text({"GET", "k"}) == "\"v\""; });
}

TEST(RedisServer, WaitsForItsPortsWhenItComesBack) {
  RedisOptions options;
  options.cluster = true;
  RedisProcess server(options);
  for (const std::uint16_t port : {server.port(), server.bus_port()}) {
    server.kill();
    std::optional<Squatter> squatter(std::in_place, port);
    ASSERT_TRUE(squatter->listens());
    const std::size_t before = server.log().size();
    auto released = std::async(std::launch::async, [&] {
      wait_for_condition("the server finds its port taken", [&] {
        return server.log().find("Address already in use", before) != std::string::npos;
      });
      squatter.reset();
    });
    server.restart();
    released.get();
    EXPECT_EQ(RespConnection(server.port()).text({"PING"}), "+PONG");
  }
}

// A program that finds its port taken at its first start.
TEST(RedisServer, StartsOnOtherPortsIfItsOwnAreTaken) {
  const TemporaryFolder folder;
  const std::filesystem::path program = folder.path() / "server";
  std::ofstream(program) << "#!/bin/sh\nif [ ! -e started ]; then\n  cp \"$1\" started\n"
                         << "  echo bind: Address already in use\n  exit 1\nfi\n"
                         << "exec " << server_program(usual_software()).value() << " \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const char* const named_by = traits_of(usual_software()).named_by;
  const char* const named = std::getenv(named_by);
  const std::optional<std::string> before =
      named == nullptr ? std::nullopt : std::optional<std::string>(named);
  ::setenv(named_by, program.c_str(), 1);
  std::optional<RedisProcess> server;
  EXPECT_NO_THROW(server.emplace());
  before ? ::setenv(named_by, before->c_str(), 1) : ::unsetenv(named_by);
  ASSERT_TRUE(server);
  EXPECT_EQ(RespConnection(server->port()).text({"PING"}), "+PONG");
  std::ifstream configuration(server->folder() / "started");
  const std::string text(std::istreambuf_iterator<char>(configuration), {});
  EXPECT_EQ(text.find("port " + std::to_string(server->port()) + "\n"), std::string::npos);
}

TEST(RedisServer, TheReasonOfAFailedStartIsThrown) {
  RedisOptions options;
  options.lines = {"no-such-directive yes"};
  try {
    const RedisProcess server(options);
    FAIL() << "it started";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-directive"), std::string::npos);
  }
}

}  // namespace
}  // namespace sheaf::test
