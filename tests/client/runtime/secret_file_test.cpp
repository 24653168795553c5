#include "client/runtime/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace sheaf::client::runtime {
namespace {

namespace fs = std::filesystem;

class SecretFileTest : public testing::Test {
 protected:
  SecretFileTest() {
    std::string name = (fs::temp_directory_path() / "sheaf-secret-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~SecretFileTest() override { fs::remove_all(folder_); }

  fs::path path(const std::string& name) const { return folder_ / name; }
  void write(const fs::path& path, std::string_view text) const {
    std::ofstream(path, std::ios::trunc) << text;
  }
  static std::string text_of(SecretFile& file) {
    const auto read = file.read();
    return read ? std::string(read->view()) : "error: " + read.error();
  }

  fs::path folder_;
};

TEST_F(SecretFileTest, ThePasswordIsTheFirstLine) {
  SecretFile file("password_file", path("p"));
  for (const auto& [text, password] : {std::pair("geheim", "geheim"),
                                       {"geheim\n", "geheim"},
                                       {"geheim\r\n", "geheim"},
                                       {"ge heim \nmore\n", "ge heim "},
                                       {" \n", " "}}) {
    write(path("p"), text);
    EXPECT_EQ(text_of(file), password);
  }
  write(path("p"), std::string(SecretFile::most_bytes, 'x'));
  EXPECT_EQ(text_of(file).size(), SecretFile::most_bytes);
}

TEST_F(SecretFileTest, WhatCannotBeReadIsSaidInOneSentenceWithItsPath) {
  const std::string p = path("p").string();
  SecretFile file("password_file", p);
  EXPECT_EQ(text_of(file), "error: password_file " + p + ": No such file or directory");
  write(p, "");
  EXPECT_EQ(text_of(file), "error: password_file " + p + ": is empty");
  write(p, "\nsecond");
  EXPECT_EQ(text_of(file), "error: password_file " + p + ": its first line is empty");
  write(p, std::string(SecretFile::most_bytes + 1, 'x'));
  EXPECT_EQ(text_of(file), "error: password_file " + p + ": has more than 64 KiB");
  SecretFile folder("token_file", folder_.string());
  EXPECT_EQ(text_of(folder), "error: token_file " + folder_.string() +
                                 ": is not a file that can be read as a whole");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  SecretFile pipe("token_file", path("pipe").string());
  EXPECT_EQ(text_of(pipe), "error: token_file " + path("pipe").string() +
                               ": is not a file that can be read as a whole");
}

TEST_F(SecretFileTest, AFileThatIsWrittenOrRenamedOverHasChanged) {
  SecretFile file("password_file", path("p"));
  EXPECT_TRUE(file.changed());
  EXPECT_TRUE(text_of(file).starts_with("error"));
  write(path("p"), "one");
  EXPECT_TRUE(file.changed());
  EXPECT_EQ(text_of(file), "one");
  write(path("p"), "two");
  EXPECT_TRUE(file.changed());
  EXPECT_EQ(text_of(file), "two");
  write(path("q"), "six");
  fs::rename(path("q"), path("p"));
  EXPECT_TRUE(file.changed());
  EXPECT_EQ(text_of(file), "six");
  fs::remove(path("p"));
  EXPECT_TRUE(file.changed());
}

// The times of a file may not show a change, so a file that was just written is always read again.
TEST_F(SecretFileTest, AFileThatWasJustWrittenIsNotTrustedYet) {
  write(path("p"), "one");
  SecretFile file("password_file", path("p"));
  EXPECT_EQ(text_of(file), "one");
  EXPECT_TRUE(file.changed());
}

TEST_F(SecretFileTest, AnOldFileIsNotReadAgain) {
  SecretFile file("password_file", "/bin/sh");
  static_cast<void>(file.read());
  EXPECT_FALSE(file.changed());
}

// ..data leads to a folder of the present secret, and each file leads through ..data.
TEST_F(SecretFileTest, ASwappedFolderIsSeenThroughItsSymbolicLinks) {
  fs::create_directory(path("..2026_01"));
  fs::create_directory(path("..2026_02"));
  write(path("..2026_01/token"), "one");
  write(path("..2026_02/token"), "two");
  fs::create_symlink("..2026_01", path("..data"));
  fs::create_symlink("..data/token", path("token"));
  SecretFile file("token_file", path("token"));
  EXPECT_EQ(text_of(file), "one");
  fs::create_symlink("..2026_02", path("..data_tmp"));
  fs::rename(path("..data_tmp"), path("..data"));
  fs::remove_all(path("..2026_01"));
  EXPECT_TRUE(file.changed());
  EXPECT_EQ(text_of(file), "two");
}

}  // namespace
}  // namespace sheaf::client::runtime
