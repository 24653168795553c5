#include "cli/line/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/command_table.h"

namespace sheaf::cli {
namespace {

using Words = std::vector<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Words with_servers(Words words) {
  words.insert(words.begin(), {"--servers", "embedded://3"});
  return words;
}

Arguments parsed(const Words& words) {
  auto arguments = parse_arguments(words);
  EXPECT_TRUE(arguments) << (arguments ? "" : arguments.error().text);
  return arguments ? *arguments : Arguments{};
}

std::string refused(const Words& words) {
  const auto arguments = parse_arguments(words);
  EXPECT_FALSE(arguments);
  if (arguments) return "";
  EXPECT_EQ(arguments.error().code, ExitCode::usage);
  const std::string& text = arguments.error().text;
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with('.')) << text;
  return text;
}

TEST(CliArguments, EveryCommandIsKnownByItsName) {
  const std::vector<std::pair<Words, Command>> commands = {
      {{"get", "k"}, Command::get},
      {{"set", "k", "v"}, Command::set},
      {{"del", "k"}, Command::del},
      {{"mget", "k"}, Command::mget},
      {{"mset", "-"}, Command::mset},
      {{"locate", "k"}, Command::locate},
      {{"ring"}, Command::ring},
      {{"nodes"}, Command::nodes},
      {{"list", "len", "l"}, Command::list},
      {{"lock", "l", "--", "true"}, Command::lock},
  };
  for (const auto& [words, command] : commands) {
    EXPECT_EQ(parsed(with_servers(words)).command, command) << words.front();
  }
  EXPECT_EQ(parsed({"dev"}).command, Command::dev);
}

TEST(CliArguments, GlobalOptionsStandBeforeOrAfterTheCommandAndItsKeys) {
  const std::vector<Words> orders = {
      {"--servers", "embedded://3", "--timeout", "250ms", "--json", "get", "k"},
      {"get", "--servers", "embedded://3", "--timeout", "250ms", "--json", "k"},
      {"get", "k", "--servers", "embedded://3", "--timeout", "250ms", "--json"},
      {"--json", "get", "--timeout=250ms", "k", "--servers=embedded://3"},
  };
  for (const Words& words : orders) {
    const Arguments arguments = parsed(words);
    EXPECT_EQ(arguments.command, Command::get);
    EXPECT_EQ(arguments.global.servers, "embedded://3");
    EXPECT_EQ(arguments.global.timeout, std::chrono::milliseconds(250));
    EXPECT_TRUE(arguments.global.json);
    EXPECT_THAT(arguments.keys, ElementsAre("k"));
  }
}

TEST(CliArguments, TheTimeoutIsThreeSecondsUnlessGiven) {
  EXPECT_EQ(parsed(with_servers({"get", "k"})).global.timeout, std::chrono::seconds(3));
}

TEST(CliArguments, ServersAndConfigurationExcludeEachOther) {
  refused({"--servers", "embedded://1", "--config", "f", "get", "k"});
  refused(with_servers({"--cluster", "c", "get", "k"}));
  EXPECT_EQ(parsed({"--config", "f", "get", "k", "--cluster", "c"}).global.cluster, "c");
}

TEST(CliArguments, ThePasswordFileIsGlobal) {
  EXPECT_EQ(parsed(with_servers({"get", "k"})).global.password_file, "");
  EXPECT_EQ(parsed(with_servers({"get", "k", "--password-file", "/p q"})).global.password_file,
            "/p q");
  EXPECT_EQ(refused(with_servers({"get", "k", "--password-file", ""})),
            "--password-file is empty.");
  EXPECT_TRUE(parsed(with_servers({"get", "k", "--ask-password"})).global.ask_password);
  refused(with_servers({"get", "k", "--ask-password", "--password-file", "/p"}));
  refused({"dev", "--password-file", "/p"});
}

TEST(CliArguments, AnOptionGivenTwiceIsRefused) {
  refused(with_servers({"get", "k", "--servers", "embedded://2"}));
  refused(with_servers({"set", "k", "v", "--ttl", "1s", "--ttl", "2s"}));
}

TEST(CliArguments, KeysAndValuesMayLookLikeAnything) {
  const Words odd = {"[a,b]", "[]",  "++",       "%%", "get",   "-5",  "{x}",   "\x01guard", "",
                     " ",     "a=b", "\xff\xfe", "\n", "/help", "'q'", "\"q\"", "help"};
  for (const std::string& word : odd) {
    EXPECT_THAT(parsed(with_servers({"get", word})).keys, ElementsAre(word)) << word;
    const Arguments set = parsed(with_servers({"set", word, word}));
    EXPECT_THAT(set.keys, ElementsAre(word)) << word;
    EXPECT_EQ(set.value, word);
    EXPECT_THAT(parsed(with_servers({"mget", "a", word, "z"})).keys, ElementsAre("a", word, "z"));
    EXPECT_EQ(parsed(with_servers({"del", "k", "--if-value", word})).if_value, word);
    EXPECT_EQ(parsed(with_servers({"del", "k", "--if-value=" + word})).if_value, word);
  }
}

TEST(CliArguments, TwoDashesEndTheOptions) {
  EXPECT_THAT(parsed(with_servers({"get", "--", "--json"})).keys, ElementsAre("--json"));
  EXPECT_THAT(parsed(with_servers({"mget", "a", "--", "-x", "--", "--help"})).keys,
              ElementsAre("a", "-x", "--", "--help"));
  const Arguments set = parsed(with_servers({"set", "--ttl", "1s", "--", "-k", "-v"}));
  EXPECT_THAT(set.keys, ElementsAre("-k"));
  EXPECT_EQ(set.value, "-v");
  EXPECT_THAT(parsed(with_servers({"--", "get", "--help"})).keys, ElementsAre("--help"));
}

TEST(CliArguments, ADashStandsForStandardInput) {
  for (const char* command : {"mget", "locate", "del"}) {
    EXPECT_TRUE(parsed(with_servers({command, "-"})).from_stdin);
    EXPECT_FALSE(parsed(with_servers({command, "--", "-"})).from_stdin);
    EXPECT_FALSE(parsed(with_servers({command, "k"})).from_stdin);
    refused(with_servers({command, "a", "-"}));
  }
  EXPECT_TRUE(parsed(with_servers({"set", "k", "-"})).from_stdin);
  EXPECT_FALSE(parsed(with_servers({"set", "k", "--", "-"})).from_stdin);
  EXPECT_EQ(parsed(with_servers({"set", "k", "--", "-"})).value, "-");
  const Arguments get = parsed(with_servers({"get", "-"}));
  EXPECT_FALSE(get.from_stdin);
  EXPECT_THAT(get.keys, ElementsAre("-"));
  EXPECT_TRUE(parsed(with_servers({"mset", "-"})).from_stdin);
  refused(with_servers({"mset", "file"}));
}

TEST(CliArguments, SetTakesTimeToLiveConditionAndFence) {
  const Arguments arguments = parsed(
      with_servers({"set", "k", "v", "--ttl", "10s", "--if-absent-or-equal", "--fence", "1:2:n"}));
  ASSERT_TRUE(arguments.ttl);
  EXPECT_EQ(arguments.ttl->milliseconds(), std::chrono::seconds(10));
  EXPECT_EQ(arguments.condition, SetCondition::if_absent_or_equal);
  EXPECT_EQ(arguments.fence.text, "1:2:n");
  EXPECT_EQ(parsed(with_servers({"set", "k", "v", "--if-absent"})).condition,
            SetCondition::if_absent);
  EXPECT_EQ(parsed(with_servers({"del", "k", "--fence", "1:2:n"})).fence.text, "1:2:n");
}

TEST(CliArguments, ConditionsExcludeEachOther) {
  const Arguments set =
      parsed(with_servers({"set", "k", "v", "--if-version", "7", "--flags", "9"}));
  EXPECT_EQ(set.condition, SetCondition::if_version);
  EXPECT_EQ(set.version.text, "7");
  EXPECT_EQ(set.flags, 9u);
  EXPECT_EQ(parsed(with_servers({"set", "k", "v", "--if-present"})).condition,
            SetCondition::if_present);
  EXPECT_EQ(refused(with_servers({"set", "k", "v", "--if-present", "--if-absent"})),
            "--if-absent and --if-present are both given: one condition holds.");
  EXPECT_EQ(parsed(with_servers({"del", "k", "--if-version", "7"})).if_version, Version{"7"});
  refused(with_servers({"del", "k", "--if-version", "7", "--if-value", "v"}));
  refused(with_servers({"del", "k", "j", "--if-value", "v"}));
  refused(with_servers({"set", "k", "v", "--flags", "4294967296"}));
  refused(with_servers({"get", "k", "--touch", "1s", "--fence", "t"}));
  EXPECT_EQ(parsed(with_servers({"get", "k", "--touch", "1s"})).touch->milliseconds(),
            std::chrono::seconds(1));
}

TEST(CliArguments, WhatIsNotAllowedIsOneSentence) {
  EXPECT_THAT(refused(with_servers({"set", "k", "v", "--ttl", "0ms"})), HasSubstr("--ttl"));
  EXPECT_THAT(refused(with_servers({"set", "k", "v", "--ttl", "10"})), HasSubstr("--ttl"));
  EXPECT_THAT(refused(with_servers({"set", "k", "v", "--ttl="})), HasSubstr("--ttl"));
  EXPECT_THAT(refused(with_servers({"set", "k", "v", "--ttl", "922337203685478ms"})),
              HasSubstr("--ttl"));
  EXPECT_THAT(refused(with_servers({"set", "k", "v", "--fence", ""})), HasSubstr("--fence"));
  EXPECT_THAT(refused(with_servers({"set", "k", "v", "--if-absent", "--if-absent-or-equal"})),
              HasSubstr("--if-absent"));
  for (const char* timeout : {"0ms", "25h", "3", "-1s", "", "1e3s"}) {
    EXPECT_THAT(refused(with_servers({"get", "k", "--timeout", timeout})), HasSubstr("--timeout"));
  }
  EXPECT_THAT(refused(with_servers({"ring", "--keys", "0"})), HasSubstr("--keys"));
  EXPECT_THAT(refused(with_servers({"ring", "--keys", "many"})), HasSubstr("--keys"));
  EXPECT_THAT(refused({"dev", "--brokers", "0"}), HasSubstr("--brokers"));
  EXPECT_THAT(refused({"dev", "--brokers", "65"}), HasSubstr("--brokers"));
  EXPECT_THAT(refused({"dev", "--spelling", "loud"}), HasSubstr("--spelling"));
  EXPECT_THAT(refused(with_servers({"dev"})), HasSubstr("--servers"));
}

TEST(CliArguments, ListTakesAnActionANameAndItsWords) {
  const ListArguments insert = parsed(with_servers({"list", "insert", "jobs", "-3", "-7"})).list;
  EXPECT_EQ(insert.action, ListAction::insert);
  EXPECT_EQ(insert.name, "jobs");
  EXPECT_EQ(insert.index, -3);
  EXPECT_EQ(insert.values, Words{"-7"});
  const ListArguments range = parsed(with_servers({"list", "range", "jobs", "0", "-1"})).list;
  EXPECT_EQ(range.index, 0);
  EXPECT_EQ(range.last, -1);
  EXPECT_TRUE(range.values.empty());
  EXPECT_TRUE(parsed(with_servers({"list", "push", "jobs", "-"})).list.from_stdin);
  EXPECT_EQ(parsed(with_servers({"list", "push", "jobs", "-", "x"})).list.values,
            (Words{"-", "x"}));
  EXPECT_EQ(parsed(with_servers({"list", "push", "--", "-n", "-v", "[x]", ""})).list.values,
            (Words{"-v", "[x]", ""}));
  EXPECT_THAT(refused(with_servers({"list", "pop", "jobs"})), HasSubstr("pop"));
  EXPECT_EQ(refused(with_servers({"list", "push", "jobs"})),
            "list push wants NAME VALUE...|-. sheaf help list push tells more.");
  EXPECT_THAT(refused(with_servers({"list", "remove", "jobs", "1.5"})), HasSubstr("index"));
  EXPECT_EQ(refused(with_servers({"list", "clear", "jobs", "x"})),
            "list clear wants NAME, not also \"x\". sheaf help list clear tells more.");
  EXPECT_EQ(refused(with_servers({"bench", "x"})),
            "bench wants no argument, not \"x\". sheaf help bench tells more.");
  EXPECT_EQ(refused({"ring", "memcached://a"}), "--diff and two URIs, OLD and NEW, go together.");
  EXPECT_EQ(refused(with_servers({"exec"})), "exec wants CMD. sheaf help exec tells more.");
  EXPECT_EQ(refused({"dev", "--redis", "3", "--port", "65535"}),
            "--port must be a number from 1 to 65533: each of the 3 servers has a port.");
  EXPECT_THAT(refused(with_servers({"list"})), HasSubstr("push, insert"));
}

TEST(CliArguments, WrongWordsAreOneSentenceThatPointsToTheHelp) {
  EXPECT_EQ(refused({}), "A command is missing. sheaf help tells more.");
  EXPECT_EQ(refused(with_servers({})), refused({}));
  EXPECT_EQ(refused(with_servers({"frobnicate", "k"})),
            "There is no command \"frobnicate\". sheaf help tells more.");
  EXPECT_EQ(refused(with_servers({"gte", "k"})),
            "There is no command \"gte\". Did you mean get? sheaf help tells more.");
  EXPECT_EQ(refused(with_servers({"set", "k", "v", "--if-absnt"})),
            "set has no option \"--if-absnt\". Did you mean --if-absent? sheaf help set tells "
            "more.");
  EXPECT_EQ(refused(with_servers({"set", "k", "v", "--ttl", "1s", "--ttl", "2s"})),
            "--ttl is given twice. sheaf help set tells more.");
  EXPECT_EQ(refused(with_servers({"set", "k", "v", "--ttl"})),
            "--ttl needs a value. sheaf help set tells more.");
  for (const Words& words : {Words{"--nope"}, {"--", "--nope"}, {"--nope=x"}, {"--nope", "x"}}) {
    EXPECT_EQ(refused(words), "There is no option \"--nope\". sheaf help tells more.");
  }
  EXPECT_EQ(refused({"list", "--nope"}),
            "There is no option \"--nope\". sheaf help list tells more.");
  EXPECT_EQ(refused({"--server", "x"}),
            "There is no option \"--server\". Did you mean --servers? sheaf help tells more.");
  EXPECT_EQ(refused({"-"}), "There is no command \"-\". sheaf help tells more.");
  EXPECT_EQ(refused({"list"}),
            "list needs one of: push, insert, update, remove, range, len, clear, drop-holes. "
            "sheaf help list tells more.");
  EXPECT_THAT(refused(with_servers({"get"})), HasSubstr("KEY"));
  EXPECT_THAT(refused(with_servers({"get", "a", "b"})), HasSubstr("b"));
  EXPECT_THAT(refused(with_servers({"set", "k"})), HasSubstr("VALUE"));
  EXPECT_THAT(refused(with_servers({"mget"})), HasSubstr("KEY"));
  EXPECT_THAT(refused(with_servers({"get", "k", "--nonsense"})), HasSubstr("--nonsense"));
  EXPECT_THAT(refused(with_servers({"get", "k", "--ttl", "1s"})), HasSubstr("--ttl"));
  EXPECT_THAT(refused({"get", "k", "--servers"}), HasSubstr("--servers"));
  EXPECT_THAT(refused(with_servers({"get", "a", "bad\n\x1b[2Jkey"})), HasSubstr("\\x1B"));
}

TEST(CliArguments, AFlagTakesNoValue) {
  EXPECT_EQ(refused({"migrate", "--empty-to=false"}),
            "--empty-to takes no value. sheaf help migrate tells more.");
  const auto refuses = [](Words words, std::string_view flag) {
    for (const char* value : {"", "false", "true", "0", "1", "[x]"}) {
      words.push_back(std::string(flag) + "=" + value);
      EXPECT_THAT(refused(words), StartsWith(std::string(flag) + " takes no value."));
      words.pop_back();
    }
  };
  for (const CommandRow& row : command_table()) {
    Words words;
    const std::string name(row.name);
    const std::size_t space = name.find(' ');
    words.push_back(name.substr(0, space));
    if (space != name.npos) words.push_back(name.substr(space + 1));
    for (const std::span<const OptionRow> options : {row.options, global_options()}) {
      for (const OptionRow& option : options) {
        if (option.value.empty()) refuses(words, option.name);
      }
    }
  }
  refuses({}, "--json");
  refuses({}, "--version");
}

TEST(CliArguments, AnOptionTakesWhatStandsBehindItsEqualsSign) {
  for (const char* value : {"true", "[x]", "++", "--json", "-5", "a=b", "\x01"}) {
    EXPECT_EQ(parsed(with_servers({"del", "k", "--if-value=" + std::string(value)})).if_value,
              value);
  }
  EXPECT_EQ(parsed(with_servers({"del", "k", "--if-value="})).if_value, "");
}

TEST(CliArguments, ExecTakesTheWordsOfItsCommandAsTheyAre) {
  const Arguments plain = parsed(with_servers({"exec", "get", "k"}));
  EXPECT_EQ(plain.command, Command::exec);
  EXPECT_THAT(plain.exec.words, ElementsAre("get", "k"));
  EXPECT_EQ(plain.exec.node, "");
  const Arguments range = parsed(with_servers({"exec", "LRANGE", "l", "0", "-1"}));
  EXPECT_THAT(range.exec.words, ElementsAre("LRANGE", "l", "0", "-1"));
  const Arguments odd = parsed(with_servers({"exec", "--", "ZADD", "z", "-inf", "", "--json"}));
  EXPECT_THAT(odd.exec.words, ElementsAre("ZADD", "z", "-inf", "", "--json"));
  EXPECT_FALSE(odd.global.json);
  const Arguments named = parsed(with_servers({"exec", "--node", "a:1", "--json", "DBSIZE"}));
  EXPECT_EQ(named.exec.node, "a:1");
  EXPECT_TRUE(named.global.json);
  EXPECT_EQ(refused(with_servers({"exec", "--node", "", "DBSIZE"})), "--node is empty.");
  EXPECT_EQ(refused(with_servers({"exec", "--node=", "DBSIZE"})), "--node is empty.");
  EXPECT_THAT(refused(with_servers({"exec"})), HasSubstr("CMD"));
}

TEST(CliArguments, HelpIsThereForTheProgramAndForEveryCommand) {
  const std::vector<Words> requests = {
      {"--help"},
      {"-h"},
      {"get", "--help"},
      {"set", "--help"},
      {"del", "-h"},
      {"mget", "--help"},
      {"mset", "--help"},
      {"locate", "--help"},
      {"ring", "--help"},
      {"nodes", "--help"},
      {"incr", "--help"},
      {"touch", "--help"},
      {"stats", "--help"},
      {"list", "--help"},
      {"exec", "--help"},
      {"dev", "--help"},
      {"--json", "get", "k", "--help"},
  };
  for (const Words& words : requests) {
    const auto arguments = parse_arguments(words);
    ASSERT_FALSE(arguments);
    EXPECT_EQ(arguments.error().code, ExitCode::done);
    EXPECT_THAT(arguments.error().text, HasSubstr("--servers"));
    EXPECT_THAT(arguments.error().text, HasSubstr("Exit codes"));
  }
  const auto set = parse_arguments({"set", "--help"});
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().text, HasSubstr("--if-absent-or-equal"));
}

TEST(CliArguments, HelpOfACommandIsAlsoACommand) {
  for (const auto& [words, same] : {std::pair(Words{"help"}, Words{"--help"}),
                                    {{"help", "set"}, {"set", "--help"}},
                                    {{"help", "list"}, {"list", "--help"}},
                                    {{"help", "list", "push"}, {"list", "push", "--help"}}}) {
    EXPECT_EQ(parse_arguments(words).error().text, parse_arguments(same).error().text);
  }
  EXPECT_THAT(parse_arguments({"help", "list"}).error().text, HasSubstr("list drop-holes NAME"));
  EXPECT_EQ(parse_arguments({"help", "fetch"}).error().code, ExitCode::usage);
}

TEST(CliArguments, TheVersionIsPrinted) {
  EXPECT_EQ(parse_arguments({"-V"}).error().text, parse_arguments({"--version"}).error().text);
  const auto arguments = parse_arguments({"--version"});
  ASSERT_FALSE(arguments);
  EXPECT_EQ(arguments.error().code, ExitCode::done);
  EXPECT_TRUE(arguments.error().text.starts_with("sheaf "));
}

TEST(CliArguments, NumbersAreCountedUpAndDown) {
  EXPECT_EQ(parsed(with_servers({"incr", "k"})).count.delta, 1u);
  const auto down = parsed(with_servers({"incr", "k", "-3", "--initial", "0", "--ttl", "5s"}));
  EXPECT_TRUE(down.count.down);
  EXPECT_EQ(down.count.delta, 3u);
  EXPECT_EQ(down.count.initial, 0u);
  EXPECT_EQ(down.ttl->milliseconds(), std::chrono::seconds(5));
  EXPECT_EQ(parsed(with_servers({"incr", "k", "18446744073709551615"})).count.delta,
            18446744073709551615u);
  for (const char* wrong : {"x", "1.5", "--3", "18446744073709551616", ""}) {
    EXPECT_THAT(refused(with_servers({"incr", "k", "--", wrong})), HasSubstr("DELTA")) << wrong;
  }
  EXPECT_THAT(refused(with_servers({"incr", "k", "--initial", "x"})), HasSubstr("--initial"));
  EXPECT_THAT(refused(with_servers({"incr", "k", "--ttl", "5s"})), HasSubstr("--initial"));
  EXPECT_THAT(refused(with_servers({"touch", "k"})), HasSubstr("--ttl"));
  EXPECT_EQ(parsed(with_servers({"stats"})).stats_group, "");
  EXPECT_EQ(parsed(with_servers({"stats", "items"})).stats_group, "items");
}

TEST(CliArguments, DevStartsServersOfOneKind) {
  EXPECT_EQ(parsed({"dev"}).dev.kind, ServerKind::broker);
  EXPECT_EQ(parsed({"dev"}).dev.servers, 3u);
  EXPECT_EQ(parsed({"dev", "--memcached", "5"}).dev.kind, ServerKind::memcached);
  EXPECT_EQ(parsed({"dev", "--memcached", "5"}).dev.servers, 5u);
  EXPECT_THAT(refused({"dev", "--memcached", "0"}), HasSubstr("--memcached"));
  EXPECT_THAT(refused({"dev", "--memcached", "65"}), HasSubstr("--memcached"));
  EXPECT_THAT(refused({"dev", "--memcached", "3", "--brokers", "3"}), HasSubstr("--brokers"));
  EXPECT_THAT(refused({"dev", "--memcached", "3", "--spelling", "sdk"}), HasSubstr("--spelling"));
  for (const auto& [option, kind] :
       {std::pair("--redis", ServerKind::redis), std::pair("--valkey", ServerKind::valkey),
        std::pair("--garnet", ServerKind::garnet)}) {
    EXPECT_EQ(parsed({"dev", option, "5"}).dev.kind, kind);
    EXPECT_EQ(parsed({"dev", option, "5"}).dev.servers, 5u);
    EXPECT_EQ(parsed({"dev", option, "5"}).dev.replicas, 0u);
    EXPECT_EQ(parsed({"dev", option, "5", "--replicas", "2"}).dev.replicas, 2u);
    EXPECT_THAT(refused({"dev", option, "0"}), HasSubstr(option));
    EXPECT_THAT(refused({"dev", option, "65"}), HasSubstr(option));
    EXPECT_THAT(refused({"dev", option, "3", "--memcached", "3"}), HasSubstr("--memcached"));
    EXPECT_THAT(refused({"dev", option, "3", "--plugin", "p"}), HasSubstr("--plugin"));
    EXPECT_THAT(refused({"dev", option, "3", "--replicas", "x"}), HasSubstr("--replicas"));
    EXPECT_EQ(parsed({"dev", option, "32", "--replicas", "1"}).dev.replicas, 1u);
    EXPECT_THAT(refused({"dev", option, "33", "--replicas", "1"}), HasSubstr("--replicas"));
  }
  EXPECT_THAT(refused({"dev", "--redis", "3", "--garnet", "3"}), HasSubstr("--redis"));
  EXPECT_THAT(refused({"dev", "--valkey", "3", "--redis", "3"}), HasSubstr("--valkey"));
  EXPECT_THAT(refused({"dev", "--replicas", "1"}), HasSubstr("--replicas"));
  EXPECT_THAT(parsed({"dev", "--", "make", "-j", "--brokers"}).dev.words,
              ElementsAre("make", "-j", "--brokers"));
}

// Every field as text, or the early exit.
std::string shown(const std::expected<Arguments, EarlyExit>& result) {
  std::ostringstream out;
  if (!result) {
    out << "exit " << static_cast<int>(result.error().code) << ' ' << result.error().text;
    return out.str();
  }
  const Arguments& all = *result;
  const auto show = [&](const auto&... values) { ((out << values << '|'), ...); };
  const auto show_all = [&](const Words& words) {
    for (const std::string& word : words) show(word);
    show("end");
  };
  show(static_cast<int>(all.command), all.global.servers, all.global.config, all.global.cluster,
       all.global.timeout.count(), all.global.json, all.from_stdin, all.value,
       all.ttl ? all.ttl->milliseconds().count() : 0, static_cast<int>(all.condition),
       all.fence.text, all.if_value.value_or("none"), all.ring_keys.value_or(0), all.stats_group,
       all.raw, all.version.text, all.flags, all.touch.has_value(), all.if_version.has_value());
  show_all(all.keys);
  show(static_cast<int>(all.list.action), all.list.name, all.list.index, all.list.last,
       all.list.from_stdin);
  show_all(all.list.values);
  show(all.lock.name, all.lock.lease.count(), all.lock.wait.count());
  show_all(all.lock.words);
  show(all.count.down, all.count.delta, all.count.initial.value_or(0));
  show(all.dev.servers, static_cast<int>(all.dev.kind), all.dev.replicas, all.dev.spelling,
       all.dev.verbose, all.dev.mosquitto, all.dev.plugin);
  return out.str();
}

// Each line after each other one, with everything that a line can leave behind.
TEST(CliArguments, AParserForgetsTheLineBefore) {
  const std::vector<Words> lines = {
      {"--servers", "u", "--timeout", "9s", "--json", "get", "k", "--fence", "f", "--ttl", "1s"},
      {"--config", "f", "--cluster", "c", "set", "k", "v", "--if-absent", "--ttl", "2s"},
      {"--servers", "u", "set", "k", "-", "--if-absent-or-equal"},
      {"--servers", "u", "del", "k", "--if-value", "v"},
      {"--servers", "u", "mget", "a", "b", "c"},
      {"--servers", "u", "mget", "-"},
      {"--servers", "u", "mget", "--raw", "--", "-"},
      {"--servers", "u", "set", "k", "v", "--if-version", "7", "--flags", "9"},
      {"--servers", "u", "del", "k", "--if-version", "7"},
      {"--servers", "u", "get", "k", "--touch", "3s"},
      {"--servers", "u", "mset", "-"},
      {"--servers", "u", "incr", "n", "-5", "--initial", "7", "--ttl", "3s"},
      {"--servers", "u", "incr", "n"},
      {"--servers", "u", "list", "insert", "l", "3", "v"},
      {"--servers", "u", "list", "push", "l", "-"},
      {"--servers", "u", "lock", "n", "--lease", "1m", "--wait", "0ms", "--", "ls", "-l"},
      {"--servers", "u", "ring", "--keys", "100"},
      {"--servers", "u", "ring"},
      {"--servers", "u", "stats", "items"},
      {"--servers", "u", "nodes"},
      {"dev", "--brokers", "5", "--spelling", "page", "--verbose", "--mosquitto", "m"},
      {"dev", "--memcached", "2"},
      {"dev", "--redis", "2", "--replicas", "3"},
      {"dev", "--valkey", "3"},
      {"dev", "--garnet", "4"},
      {"dev"},
      {"--help"},
      {"set", "--help"},
      {"--version"},
      {"--servers", "u", "frobnicate"},
      {"--servers", "u", "get"},
      {"--servers", "u", "get", "a", "b"},
      {"--servers", "u", "set", "k", "v", "--ttl", "1s", "--ttl", "2s"},
      {"get", "k"},
      {},
  };
  ArgumentParser parser;
  for (const Words& before : lines) {
    for (const Words& line : lines) {
      static_cast<void>(parser.parse(before));
      EXPECT_EQ(shown(parser.parse(line)), shown(parse_arguments(line)))
          << testing::PrintToString(line) << " after " << testing::PrintToString(before);
    }
  }
}

}  // namespace
}  // namespace sheaf::cli
