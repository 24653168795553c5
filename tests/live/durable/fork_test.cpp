// Embedded stores in a forked child, whatever its parent was doing with its own.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include <sheaf/client.h>

#include "tests/live/durable/data_folder.h"
#include "tests/live/durable/held_disk.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using test::DataFolder;
using test::HeldDisk;

enum ExitCode : int { good, no_store, another_store, file_opened, another_sentence };

// What a child finds that its parent forked while it had the store of `data` open.
[[noreturn]] void check_as_child(const std::string& name, const DataFolder& data) {
  alarm(30);  // ends a child that hangs
  auto client = Client::open("embedded://1?name=" + name);
  if (!client || !client->set("key", "child")) _exit(no_store);
  auto same = Client::open("embedded://1?name=" + name);
  if (!same || same->get("key")->value().data != "child") _exit(another_store);
  for (const std::string& file : {data.file(), data.file() + ".other"}) {
    const auto durable = Client::open("embedded://1?data=" + file);
    if (durable) _exit(file_opened);
    if (durable.error().text != file + " cannot be opened, because this process was forked from " +
                                    "one that had the file of a store open") {
      _exit(another_sentence);
    }
  }
  _exit(good);
}

int exit_code_of(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(EmbeddedFork, AChildOpensStoresWhileItsParentLoadsAFile) {
  const DataFolder data;
  HeldDisk disk;
  disk.hold();
  std::thread opening([&] {
    const auto client = Client::open("embedded://1?name=shared&data=" + data.file());
    EXPECT_TRUE(client.has_value());
  });
  test::wait_for_condition("the file is being made", [&] { return disk.waiting() > 0; });
  const pid_t child = fork();
  if (child == 0) check_as_child("shared", data);
  EXPECT_EQ(exit_code_of(child), good);
  disk.let_go();
  opening.join();
}

TEST(EmbeddedFork, AChildOpensStoresWhileItsParentSavesAChange) {
  const DataFolder data;
  HeldDisk disk;
  auto client = Client::open("embedded://1?name=saving&timeout=10s&data=" + data.file());
  ASSERT_TRUE(client);
  disk.hold();
  std::thread setting([&] { EXPECT_TRUE(client->set("key", "parent").has_value()); });
  test::wait_for_condition("the change is being saved", [&] { return disk.waiting() > 0; });
  const pid_t child = fork();
  if (child == 0) check_as_child("saving", data);
  EXPECT_EQ(exit_code_of(child), good);
  disk.let_go();
  setting.join();
  EXPECT_EQ(client->get("key")->value().data, "parent");
}

// Only a file that is open at the fork stands in the way.
TEST(EmbeddedFork, AChildOpensAFileThatItsParentHasClosed) {
  const DataFolder data;
  Client::open("embedded://1?data=" + data.file())->set("key", "parent").value();
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    auto client = Client::open("embedded://1?data=" + data.file());
    _exit(client && client->get("key")->value().data == "parent" ? good : no_store);
  }
  EXPECT_EQ(exit_code_of(child), good);
}

}  // namespace
}  // namespace sheaf
