// The arguments of each command, and the checks on them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/dev_words.h"
#include "cli/line/help.h"
#include "cli/line/key_words.h"
#include "cli/line/list_words.h"
#include "cli/line/lock_words.h"
#include "cli/line/program_words.h"
#include "cli/line/server_words.h"
#include "tests/cli/command_lines.h"

namespace sheaf::cli {
namespace {

using Words = WordList;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Words with_servers(Words words) {
  words.insert(words.begin(), {"--servers", "embedded://3"});
  return words;
}

std::string refused(const Words& words) {
  const auto arguments = parse_line(words);
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
  const std::vector<std::pair<Words, std::string>> commands = {
      {{"get", "k"}, "get"},
      {{"mset", "-"}, "mset"},
      {{"ring"}, "ring"},
      {{"list", "len", "l"}, "list len"},
      {{"lock", "l", "--", "true"}, "lock"},
  };
  for (const auto& [words, command] : commands) {
    EXPECT_EQ(parsed_line(with_servers(words)).row->name, command) << words.front();
  }
  EXPECT_EQ(parsed_line({"dev"}).row->name, "dev");
}

TEST(CliArguments, GlobalOptionsStandBeforeOrAfterTheCommandAndItsKeys) {
  const std::vector<Words> orders = {
      {"--servers", "embedded://3", "--timeout", "250ms", "--json", "get", "k"},
      {"get", "--servers", "embedded://3", "--timeout", "250ms", "--json", "k"},
      {"get", "k", "--servers", "embedded://3", "--timeout", "250ms", "--json"},
      {"--json", "get", "--timeout=250ms", "k", "--servers=embedded://3"},
  };
  for (const Words& words : orders) {
    const CommandLine line = parsed_line(words);
    EXPECT_EQ(line.global.servers, "embedded://3");
    EXPECT_EQ(line.global.timeout, std::chrono::milliseconds(250));
    EXPECT_TRUE(line.global.json);
    EXPECT_EQ(parsed<GetWords>(words).key, "k");
  }
}

TEST(CliArguments, TheTimeoutIsThreeSecondsUnlessGiven) {
  EXPECT_EQ(parsed_line(with_servers({"get", "k"})).global.timeout, std::chrono::seconds(3));
}

TEST(CliArguments, ServersAndConfigurationExcludeEachOther) {
  refused({"--servers", "embedded://1", "--config", "f", "get", "k"});
  refused(with_servers({"--cluster", "c", "get", "k"}));
  EXPECT_EQ(parsed_line({"--config", "f", "get", "k", "--cluster", "c"}).global.cluster, "c");
}

TEST(CliArguments, ThePasswordFileIsGlobal) {
  EXPECT_EQ(parsed_line(with_servers({"get", "k"})).global.password_file, "");
  EXPECT_EQ(parsed_line(with_servers({"get", "k", "--password-file", "/p q"})).global.password_file,
            "/p q");
  EXPECT_EQ(refused(with_servers({"get", "k", "--password-file", ""})),
            "--password-file needs a FILE.");
  EXPECT_TRUE(parsed_line(with_servers({"get", "k", "--ask-password"})).global.ask_password);
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
    EXPECT_EQ(parsed<GetWords>(with_servers({"get", word})).key, word);
    const auto set = parsed<SetWords>(with_servers({"set", word, word}));
    EXPECT_EQ(set.key, word);
    EXPECT_EQ(set.value, word);
    EXPECT_THAT(parsed<KeysWords>(with_servers({"mget", "a", word, "z"})).keys,
                ElementsAre("a", word, "z"));
    EXPECT_EQ(parsed<DelWords>(with_servers({"del", "k", "--if-value", word})).if_value, word);
    EXPECT_EQ(parsed<DelWords>(with_servers({"del", "k", "--if-value=" + word})).if_value, word);
  }
}

TEST(CliArguments, TwoDashesEndTheOptions) {
  EXPECT_EQ(parsed<GetWords>(with_servers({"get", "--", "--json"})).key, "--json");
  EXPECT_THAT(parsed<KeysWords>(with_servers({"mget", "a", "--", "-x", "--", "--help"})).keys,
              ElementsAre("a", "-x", "--", "--help"));
  const auto set = parsed<SetWords>(with_servers({"set", "--ttl", "1s", "--", "-k", "-v"}));
  EXPECT_EQ(set.key, "-k");
  EXPECT_EQ(set.value, "-v");
  EXPECT_EQ(parsed<GetWords>(with_servers({"--", "get", "--help"})).key, "--help");
}

TEST(CliArguments, ADashStandsForStandardInput) {
  for (const char* command : {"mget", "locate", "watch"}) {
    EXPECT_TRUE(parsed<KeysWords>(with_servers({command, "-"})).from_stdin);
    EXPECT_FALSE(parsed<KeysWords>(with_servers({command, "--", "-"})).from_stdin);
    EXPECT_FALSE(parsed<KeysWords>(with_servers({command, "k"})).from_stdin);
    refused(with_servers({command, "a", "-"}));
  }
  EXPECT_TRUE(parsed<DelWords>(with_servers({"del", "-"})).from_stdin);
  refused(with_servers({"del", "a", "-"}));
  EXPECT_TRUE(parsed<SetWords>(with_servers({"set", "k", "-"})).from_stdin);
  EXPECT_FALSE(parsed<SetWords>(with_servers({"set", "k", "--", "-"})).from_stdin);
  EXPECT_EQ(parsed<SetWords>(with_servers({"set", "k", "--", "-"})).value, "-");
  EXPECT_EQ(parsed<GetWords>(with_servers({"get", "-"})).key, "-");
  parsed<MsetWords>(with_servers({"mset", "-"}));
  refused(with_servers({"mset", "file"}));
}

TEST(CliArguments, SetTakesTimeToLiveConditionAndFence) {
  const auto arguments = parsed<SetWords>(
      with_servers({"set", "k", "v", "--ttl", "10s", "--if-absent-or-equal", "--fence", "1:2:n"}));
  ASSERT_TRUE(arguments.ttl);
  EXPECT_EQ(arguments.ttl->milliseconds(), std::chrono::seconds(10));
  EXPECT_EQ(arguments.condition, SetCondition::if_absent_or_equal);
  EXPECT_EQ(arguments.fence.text, "1:2:n");
  EXPECT_EQ(parsed<SetWords>(with_servers({"set", "k", "v", "--if-absent"})).condition,
            SetCondition::if_absent);
  EXPECT_EQ(parsed<DelWords>(with_servers({"del", "k", "--fence", "1:2:n"})).fence.text, "1:2:n");
}

TEST(CliArguments, ConditionsExcludeEachOther) {
  const auto set =
      parsed<SetWords>(with_servers({"set", "k", "v", "--if-version", "7", "--flags", "9"}));
  EXPECT_EQ(set.condition, SetCondition::if_version);
  EXPECT_EQ(set.version.text, "7");
  EXPECT_EQ(set.flags, 9u);
  EXPECT_EQ(parsed<SetWords>(with_servers({"set", "k", "v", "--if-present"})).condition,
            SetCondition::if_present);
  EXPECT_EQ(refused(with_servers({"set", "k", "v", "--if-present", "--if-absent"})),
            "--if-absent and --if-present are both given: give only one condition.");
  EXPECT_EQ(parsed<DelWords>(with_servers({"del", "k", "--if-version", "7"})).if_version,
            Version{"7"});
  refused(with_servers({"del", "k", "--if-version", "7", "--if-value", "v"}));
  refused(with_servers({"del", "k", "j", "--if-value", "v"}));
  refused(with_servers({"set", "k", "v", "--flags", "4294967296"}));
  refused(with_servers({"get", "k", "--touch", "1s", "--fence", "t"}));
  EXPECT_EQ(parsed<GetWords>(with_servers({"get", "k", "--touch", "1s"})).touch->milliseconds(),
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
  const auto insert = parsed<ListItemWords>(with_servers({"list", "insert", "jobs", "-3", "-7"}));
  EXPECT_EQ(insert.name, "jobs");
  EXPECT_EQ(insert.index, -3);
  EXPECT_EQ(insert.value, "-7");
  const auto range = parsed<ListRangeWords>(with_servers({"list", "range", "jobs", "0", "-1"}));
  EXPECT_EQ(range.first, 0);
  EXPECT_EQ(range.last, -1);
  const auto pushed = [](const Words& words) {
    Words all{"list", "push"};
    all.insert(all.end(), words.begin(), words.end());
    return parsed<ListPushWords>(with_servers(all));
  };
  EXPECT_TRUE(pushed({"jobs", "-"}).from_stdin);
  EXPECT_EQ(pushed({"jobs", "-", "x"}).values, (Words{"-", "x"}));
  EXPECT_EQ(pushed({"--", "-n", "-v", "[x]", ""}).values, (Words{"-v", "[x]", ""}));
  EXPECT_THAT(refused(with_servers({"list", "pop", "jobs"})), HasSubstr("pop"));
  EXPECT_EQ(refused(with_servers({"list", "push", "jobs"})),
            "list push expects NAME VALUE...|-. See sheaf help list push.");
  EXPECT_THAT(refused(with_servers({"list", "remove", "jobs", "1.5"})), HasSubstr("index"));
  EXPECT_EQ(refused(with_servers({"list", "clear", "jobs", "x"})),
            "list clear expects NAME, not also \"x\". See sheaf help list clear.");
  EXPECT_EQ(refused(with_servers({"bench", "x"})),
            "bench expects no argument, not \"x\". See sheaf help bench.");
  EXPECT_EQ(refused({"ring", "memcached://a"}),
            "ring draws the servers of --servers URI; other URIs need --diff OLD NEW.");
  EXPECT_EQ(refused(with_servers({"exec"})), "exec expects CMD. See sheaf help exec.");
  EXPECT_EQ(refused({"dev", "--redis", "3", "--port", "65535"}),
            "--port is \"65535\", not a number from 1 to 65533: each of the 3 servers has a port.");
  EXPECT_THAT(refused(with_servers({"list"})), HasSubstr("push, insert"));
}

TEST(CliArguments, WrongWordsAreOneSentenceThatPointsToTheHelp) {
  EXPECT_EQ(refused({}), "A command is missing. See sheaf help.");
  EXPECT_EQ(refused(with_servers({})), refused({}));
  EXPECT_EQ(refused(with_servers({"frobnicate", "k"})),
            "There is no command \"frobnicate\". See sheaf help.");
  EXPECT_EQ(refused(with_servers({"gte", "k"})),
            "There is no command \"gte\". Did you mean get? See sheaf help.");
  EXPECT_EQ(refused(with_servers({"set", "k", "v", "--if-absnt"})),
            "set has no option \"--if-absnt\". Did you mean --if-absent? See sheaf help set.");
  EXPECT_EQ(refused(with_servers({"set", "k", "v", "--ttl", "1s", "--ttl", "2s"})),
            "--ttl is given twice. See sheaf help set.");
  EXPECT_EQ(refused(with_servers({"set", "k", "v", "--ttl"})),
            "--ttl needs a value. See sheaf help set.");
  for (const Words& words : {Words{"--nope"}, {"--", "--nope"}, {"--nope=x"}, {"--nope", "x"}}) {
    EXPECT_EQ(refused(words), "There is no option \"--nope\". See sheaf help.");
  }
  EXPECT_EQ(refused({"list", "--nope"}), "There is no option \"--nope\". See sheaf help list.");
  EXPECT_EQ(refused({"--server", "x"}),
            "There is no option \"--server\". Did you mean --servers? See sheaf help.");
  EXPECT_EQ(refused({"-"}), "There is no command \"-\". See sheaf help.");
  EXPECT_EQ(refused({"list"}),
            "list needs one of: push, insert, update, remove, range, len, clear, drop-holes. "
            "See sheaf help list.");
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
  EXPECT_EQ(refused({"set", "--if-absent=false"}),
            "--if-absent takes no value. See sheaf help set.");
  const auto refuses = [](Words words, std::string_view flag) {
    for (const char* value : {"", "false", "true", "0", "1", "[x]"}) {
      words.push_back(std::string(flag) + "=" + value);
      EXPECT_THAT(refused(words), StartsWith(std::string(flag) + " takes no value."));
      words.pop_back();
    }
  };
  for (const CommandRow& row : command_list()) {
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
    EXPECT_EQ(
        parsed<DelWords>(with_servers({"del", "k", "--if-value=" + std::string(value)})).if_value,
        value);
  }
  EXPECT_EQ(parsed<DelWords>(with_servers({"del", "k", "--if-value="})).if_value, "");
}

TEST(CliArguments, ExecTakesTheWordsOfItsCommandAsTheyAre) {
  const auto plain = parsed<ExecWords>(with_servers({"exec", "get", "k"}));
  EXPECT_THAT(plain.words, ElementsAre("get", "k"));
  EXPECT_EQ(plain.node, "");
  const auto range = parsed<ExecWords>(with_servers({"exec", "LRANGE", "l", "0", "-1"}));
  EXPECT_THAT(range.words, ElementsAre("LRANGE", "l", "0", "-1"));
  const Words odd = with_servers({"exec", "--", "ZADD", "z", "-inf", "", "--json"});
  EXPECT_THAT(parsed<ExecWords>(odd).words, ElementsAre("ZADD", "z", "-inf", "", "--json"));
  EXPECT_FALSE(parsed_line(odd).global.json);
  const Words named = with_servers({"exec", "--node", "a:1", "--json", "DBSIZE"});
  EXPECT_EQ(parsed<ExecWords>(named).node, "a:1");
  EXPECT_TRUE(parsed_line(named).global.json);
  EXPECT_FALSE(plain.all_nodes);
  EXPECT_TRUE(parsed<ExecWords>(with_servers({"exec", "--all-nodes", "DBSIZE"})).all_nodes);
  EXPECT_EQ(refused(with_servers({"exec", "--node", "a:1", "--all-nodes", "DBSIZE"})),
            "--node names one node, and --all-nodes means all: give one of them.");
  EXPECT_EQ(refused(with_servers({"exec", "--node", "", "DBSIZE"})), "--node needs HOST:PORT.");
  EXPECT_EQ(refused(with_servers({"exec", "--node=", "DBSIZE"})), "--node needs HOST:PORT.");
  EXPECT_THAT(refused(with_servers({"exec"})), HasSubstr("CMD"));
}

TEST(CliArguments, HelpIsThereForTheProgramAndForEveryCommand) {
  std::vector<Words> requests = {
      {"--help"}, {"-h"}, {"del", "-h"}, {"--json", "get", "k", "--help"}};
  for (const CommandRow& row : command_list()) {
    Words& words =
        requests.emplace_back(Words{std::string(row.name.substr(0, row.name.find(' ')))});
    if (row.name.contains(' ')) words.emplace_back(row.name.substr(row.name.find(' ') + 1));
    words.emplace_back("--help");
  }
  for (const Words& words : requests) {
    const auto line = parse_line(words);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().code, ExitCode::done);
    EXPECT_THAT(line.error().text, StartsWith("Usage: sheaf"));
    EXPECT_THAT(line.error().text, HasSubstr("sheaf help options"));
  }
  EXPECT_THAT(refusal_of({"set", "--help"}), HasSubstr("--if-absent-or-equal"));
}

TEST(CliArguments, HelpOfACommandIsAlsoACommand) {
  EXPECT_EQ(parsed<HelpWords>({"help"}).name, "");
  EXPECT_EQ(parsed<HelpWords>({"help", "list"}).name, "list");
  EXPECT_EQ(parsed<HelpWords>({"help", "list", "push"}).name, "list push");
  EXPECT_EQ(parsed<HelpWords>({"help", "options"}).name, "options");
  EXPECT_EQ(help_of(command_list(), "list push"), refusal_of({"list", "push", "--help"}));
  EXPECT_EQ(help_of(command_list(), ""), refusal_of({"--help"}));
  EXPECT_EQ(refused({"help", "fetched"}), "There is no command \"fetched\". See sheaf help.");
  EXPECT_EQ(refused({"help", "gett"}),
            "There is no command \"gett\". Did you mean get? See sheaf help.");
}

TEST(CliArguments, TheVersionIsPrinted) {
  EXPECT_EQ(parse_line({"-V"}).error().text, parse_line({"--version"}).error().text);
  const auto arguments = parse_line({"--version"});
  ASSERT_FALSE(arguments);
  EXPECT_EQ(arguments.error().code, ExitCode::done);
  EXPECT_TRUE(arguments.error().text.starts_with("sheaf "));
}

TEST(CliArguments, NumbersAreCountedUpAndDown) {
  EXPECT_EQ(parsed<IncrWords>(with_servers({"incr", "k"})).delta, 1u);
  const auto down =
      parsed<IncrWords>(with_servers({"incr", "k", "-3", "--initial", "0", "--ttl", "5s"}));
  EXPECT_TRUE(down.down);
  EXPECT_EQ(down.delta, 3u);
  EXPECT_EQ(down.initial, 0u);
  EXPECT_EQ(down.ttl->milliseconds(), std::chrono::seconds(5));
  EXPECT_EQ(parsed<IncrWords>(with_servers({"incr", "k", "18446744073709551615"})).delta,
            18446744073709551615u);
  for (const char* wrong : {"x", "1.5", "--3", "18446744073709551616", ""}) {
    EXPECT_THAT(refused(with_servers({"incr", "k", "--", wrong})), HasSubstr("DELTA")) << wrong;
  }
  EXPECT_THAT(refused(with_servers({"incr", "k", "--initial", "x"})), HasSubstr("--initial"));
  EXPECT_THAT(refused(with_servers({"incr", "k", "--ttl", "5s"})), HasSubstr("--initial"));
  EXPECT_THAT(refused(with_servers({"touch", "k"})), HasSubstr("--ttl"));
  EXPECT_EQ(parsed<StatsWords>(with_servers({"stats"})).group, "");
  EXPECT_EQ(parsed<StatsWords>(with_servers({"stats", "items"})).group, "items");
}

TEST(CliArguments, DevStartsServersOfOneKind) {
  EXPECT_EQ(parsed<DevWords>({"dev"}).kind, ServerKind::broker);
  EXPECT_EQ(parsed<DevWords>({"dev"}).servers, 3u);
  EXPECT_EQ(parsed<DevWords>({"dev", "--memcached", "5"}).kind, ServerKind::memcached);
  EXPECT_EQ(parsed<DevWords>({"dev", "--memcached", "5"}).servers, 5u);
  EXPECT_THAT(refused({"dev", "--memcached", "0"}), HasSubstr("--memcached"));
  EXPECT_THAT(refused({"dev", "--memcached", "65"}), HasSubstr("--memcached"));
  EXPECT_THAT(refused({"dev", "--memcached", "3", "--brokers", "3"}), HasSubstr("--brokers"));
  EXPECT_THAT(refused({"dev", "--memcached", "3", "--spelling", "sdk"}), HasSubstr("--spelling"));
  for (const auto& [option, kind] :
       {std::pair("--redis", ServerKind::redis), std::pair("--valkey", ServerKind::valkey),
        std::pair("--garnet", ServerKind::garnet)}) {
    EXPECT_EQ(parsed<DevWords>({"dev", option, "5"}).kind, kind);
    EXPECT_EQ(parsed<DevWords>({"dev", option, "5"}).servers, 5u);
    EXPECT_EQ(parsed<DevWords>({"dev", option, "5"}).replicas, 0u);
    EXPECT_EQ(parsed<DevWords>({"dev", option, "5", "--replicas", "2"}).replicas, 2u);
    EXPECT_THAT(refused({"dev", option, "0"}), HasSubstr(option));
    EXPECT_THAT(refused({"dev", option, "65"}), HasSubstr(option));
    EXPECT_THAT(refused({"dev", option, "3", "--memcached", "3"}), HasSubstr("--memcached"));
    EXPECT_THAT(refused({"dev", option, "3", "--plugin", "p"}), HasSubstr("--plugin"));
    EXPECT_THAT(refused({"dev", option, "3", "--replicas", "x"}), HasSubstr("--replicas"));
    EXPECT_EQ(parsed<DevWords>({"dev", option, "32", "--replicas", "1"}).replicas, 1u);
    EXPECT_THAT(refused({"dev", option, "33", "--replicas", "1"}), HasSubstr("--replicas"));
  }
  EXPECT_THAT(refused({"dev", "--redis", "3", "--garnet", "3"}), HasSubstr("--redis"));
  EXPECT_THAT(refused({"dev", "--valkey", "3", "--redis", "3"}), HasSubstr("--valkey"));
  EXPECT_THAT(refused({"dev", "--replicas", "1"}), HasSubstr("--replicas"));
  for (const char* option : {"--tls", "--token"}) {
    EXPECT_EQ(parsed<DevWords>({"dev", option}).servers, 1u) << "as a pod sees one broker";
    EXPECT_EQ(parsed<DevWords>({"dev", option, "--brokers", "3"}).servers, 3u);
    EXPECT_EQ(parsed<DevWords>({"dev", option}).rotate, std::chrono::minutes(1));
    EXPECT_EQ(parsed<DevWords>({"dev", option, "--rotate", "0"}).rotate.count(), 0);
    EXPECT_THAT(refused({"dev", option, "--rotate", "1s"}), HasSubstr("--rotate"));
    EXPECT_THAT(refused({"dev", option, "--rotate", "86401"}), HasSubstr("--rotate"));
    EXPECT_THAT(refused({"dev", option, "--redis", "3"}), HasSubstr(option));
  }
  EXPECT_EQ(parsed<DevWords>({"dev"}).rotate.count(), 0);
  EXPECT_THAT(parsed<DevWords>({"dev", "--", "make", "-j", "--brokers"}).words,
              ElementsAre("make", "-j", "--brokers"));
}

// The whole line as text, or the early exit.
std::string shown(const std::expected<ParsedLine, EarlyExit>& line) {
  if (!line)
    return "exit " + std::to_string(static_cast<int>(line.error().code)) + " " + line.error().text;
  std::string out(line->row->name);
  for (const auto& [option, value] : line->options) out.append("|" + option + "=" + value);
  for (const auto& argument : line->arguments)
    out.append(argument.literal ? "|literal " : "|").append(argument.text);
  return out;
}

// Parses each line after every other one; together they use everything a line can leave in a
// parser.
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
      {"dev", "--tls", "--token", "--rotate", "5"},
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
  LineParser parser(command_list());
  for (const Words& before : lines) {
    for (const Words& line : lines) {
      static_cast<void>(parser.parse(before));
      EXPECT_EQ(shown(parser.parse(line)), shown(LineParser(command_list()).parse(line)))
          << testing::PrintToString(line) << " after " << testing::PrintToString(before);
    }
  }
}

}  // namespace
}  // namespace sheaf::cli
