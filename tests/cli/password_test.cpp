#include "cli/line/password.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace sheaf::cli {
namespace {

// A command line after its passwords were hidden.
std::vector<std::string> hidden(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  hide_passwords(pointers);
  return words;
}

TEST(CliPassword, AUriShowsEverythingButItsPassword) {
  using Typed = std::vector<std::string>;
  EXPECT_EQ(hidden({"--servers", "mqtt://line4:geheim@b1,b2?timeout=1s", "get", "k"}),
            (Typed{"--servers", "mqtt://line4:******@b1,b2?timeout=1s", "get", "k"}));
  EXPECT_EQ(hidden({"get", "k", "--servers=redis://:pw@r1"}),
            (Typed{"get", "k", "--servers=redis://:**@r1"}));
  EXPECT_EQ(hidden({"--servers", "mqtt://a:p@q?x:y@b1"}),
            (Typed{"--servers", "mqtt://a:*******@b1"}))
      << "one that was not escaped";
}

TEST(CliPassword, WhatIsNoPasswordIsLeftAlone) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--servers", "mqtt://b1:1883,b2:1884", "get", "k"},
        {"--servers", "mqtt://line4@b1:1883", "get", "k"},
        {"--servers", "mqtt://@b1:1", "get"},
        {"--servers", "a:b@c", "get"},
        {"--servers"},
        {"set", "k", "mqtt://u:p@h"},
        {"set", "k", "--", "--servers", "mqtt://u:p@h"},
        {}}) {
    EXPECT_EQ(hidden(words), words);
  }
}

ClusterConfig configured(const std::string& uri) { return ClusterConfig::parse_uri(uri).value(); }

TEST(CliPassword, ComesFromAFileOrFromTheEnvironment) {
  ClusterConfig config = configured("redis://line4@127.0.0.1");
  EXPECT_EQ(give_password(config, "", "")->password, "") << "empty is as good as not set";
  EXPECT_EQ(give_password(config, "", "")->password_file, "");
  const std::string path = testing::TempDir() + "sheaf-password-" + std::to_string(getpid());
  std::ofstream(path) << "geheim\n";
  EXPECT_EQ(give_password(config, path, "")->password_file, path);
  std::ofstream(path).flush();
  EXPECT_EQ(give_password(config, path, "").error().text,
            "cannot read --password-file " + path + ": its first line is empty");
  std::remove(path.c_str());
  const Error missing = give_password(config, path, "").error();
  EXPECT_EQ(missing.text, "cannot read --password-file " + path + ": No such file or directory");
  EXPECT_EQ(missing.outcome, Outcome::invalid);
  EXPECT_EQ(give_password(config, "", "geheim")->password, "geheim");
}

TEST(CliPassword, ComesFromOnePlace) {
  ClusterConfig config = configured("redis://line4@127.0.0.1");
  EXPECT_EQ(give_password(config, "/p", "geheim").error().text,
            "the password is given both by SHEAF_PASSWORD and by --password-file");
  for (const char* uri : {"redis://u:p@127.0.0.1", "redis://u@127.0.0.1?password_file=/q"}) {
    config = configured(uri);
    EXPECT_EQ(give_password(config, "/p", "").error().text,
              "the password is given both by the servers' configuration and by --password-file");
    EXPECT_EQ(give_password(config, "", "geheim").error().text,
              "the password is given both by the servers' configuration and by SHEAF_PASSWORD or "
              "the terminal");
  }
}

}  // namespace
}  // namespace sheaf::cli
