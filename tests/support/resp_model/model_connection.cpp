// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/model_connection.h"

#include <algorithm>
#include <utility>

#include "protocol/resp/wire/reply_tree.h"
#include "tests/support/resp_model/cluster_commands.h"
#include "tests/support/resp_model/data_commands.h"
#include "tests/support/resp_model/slot_rules.h"

namespace sheaf::test::resp_model {

ModelConnection::ModelConnection(ModelCluster& cluster, NodeNumber node)
    : cluster_(cluster),
      node_(node),
      process_(cluster.node(node).process),
      number_(cluster.next_connection()),
      logged_in_(!cluster.wants_password()) {}

std::string ModelConnection::receive(std::string_view bytes, Deadline now) {
  parser_.append(bytes);
  bool in_run = false;  // the last command was a GET after ASKING, or in its run
  while (!closed() && !node().stopped) {
    const auto progress = parser_.next();
    if (progress == CommandParser::Progress::need_input) break;
    if (progress == CommandParser::Progress::broken) {
      reply().error(parser_.error());
      closed_ = true;
      break;
    }
    const bool is_get = lower(parser_.words()[0]) == "get";
    if (in_run && is_get && dialect().is_garnet()) asking_ = true;
    in_run = asking_ && is_get;
    answer(parser_.words(), now);
  }
  return std::exchange(out_, {});
}

std::string ModelConnection::pushes(Deadline now) {
  if (closed() || node().stopped) return {};
  const Keyspace& keys = *node().keys;
  if (keys_ == &keys && changes_ == keys.changes() && now < first_end_) {
    return std::exchange(out_, {});
  }
  keys_ = &keys;
  changes_ = keys.changes();
  first_end_ = never;
  for (auto at = tracked_.begin(); at != tracked_.end();) {
    const auto& [key, before] = *at;
    const Item* const item = keys.find(key, now);
    if (item == nullptr ? !before : before == item->value) {
      if (item != nullptr) first_end_ = std::min(first_end_, item->ends);
      ++at;
      continue;
    }
    ReplyWriter writer = reply();
    writer.push(2);
    writer.bulk("invalidate");
    writer.array(1);
    writer.bulk(key);
    at = tracked_.erase(at);
  }
  return std::exchange(out_, {});
}

std::optional<std::string> ModelConnection::held(const std::string& key, Deadline now) {
  const Item* const item = std::as_const(*node().keys).find(key, now);
  return item != nullptr ? std::optional(item->value) : std::nullopt;
}

bool ModelConnection::refuse(std::string_view error) {
  reply().error(error);
  cluster_.log().add_error(error);
  return true;
}

bool ModelConnection::refused(const CommandSpec& spec, const Words& words, bool asking,
                              Deadline now) {
  if (!arity_fits(spec, words)) return refuse(wrong_arity(spec.name));
  if (!logged_in_ && !spec.before_login) return refuse("NOAUTH Authentication required.");
  const bool overdue = cluster_.wants_password() && !cluster_.takes(password_);
  if (overdue && spec.group == CommandGroup::data) cluster_.note_overdue();
  const Asked asked{keys_of(spec, words), spec.write, asking, readonly_};
  const bool down = now < node().faults.down_until;
  const Ruling ruling = rule_on(asked, node().view, *node().keys, dialect(), down, now);
  if (ruling.verdict != Verdict::served) return refuse(error_of(ruling, node().view, dialect()));
  if (now < node().faults.loading_until && !spec.while_loading) {
    return refuse("LOADING Redis is loading the dataset in memory");
  }
  NodeFaults& faults = node().faults;
  const bool counts = faults.try_again_every > 0 && spec.group == CommandGroup::data;
  if (counts && ++faults.commands % faults.try_again_every == 0) {
    return refuse("TRYAGAIN Multiple keys request during rehashing of slot");
  }
  return false;
}

void ModelConnection::answer(const Words& words, Deadline now) {
  const bool asking = std::exchange(asking_, false);
  const CommandSpec* spec = find_command(words[0], dialect());
  if (spec == nullptr) {
    refuse(unknown_command(words, dialect()));
    return;
  }
  const bool ends = spec->name == "exec" || spec->name == "discard";
  if (queued_ && !ends) return queue(*spec, words);
  if (refused(*spec, words, asking, now)) return;
  switch (spec->group) {
    case CommandGroup::data:
      return run_on_keys(*spec, words, now);
    case CommandGroup::cluster:
      return run_on_cluster(words, now);
    case CommandGroup::connection:
      return run_on_connection(*spec, words, now);
  }
}

void ModelConnection::run_on_keys(const CommandSpec& spec, const Words& words, Deadline now) {
  std::string bytes;
  ReplyWriter own(bytes, protocol_);
  run_data_command(words, *node().keys, dialect(), now, own);
  cluster_.log().add({now, node_, number_, client_, words, spec.write, bytes});
  if (tracks_ && !spec.write) {
    for (const std::string& key : keys_of(spec, words)) tracked_[key] = held(key, now);
    keys_ = nullptr;
  }
  NodeFaults& faults = node().faults;
  if (faults.garbage_replies == 0) {
    out_ += bytes;
  } else {
    --faults.garbage_replies;
    out_.append(faults.garbage_size, '\0');
  }
}

// ---- transactions

void ModelConnection::queue(const CommandSpec& spec, const Words& words) {
  if (!arity_fits(spec, words)) {
    refuse(wrong_arity(spec.name));
    return;
  }
  queued_->push_back(words);
  reply().status("QUEUED");
}

void ModelConnection::watch(const Words& words, Deadline now) {
  for (std::size_t i = 1; i < words.size(); ++i)
    watched_.try_emplace(words[i], held(words[i], now));
  reply().ok();
}

void ModelConnection::execute(Deadline now) {
  if (!queued_) {
    refuse("ERR EXEC without MULTI");
    return;
  }
  const std::vector<Words> queued = *std::exchange(queued_, std::nullopt);
  const auto watched = std::exchange(watched_, {});
  Asked asked;
  asked.readonly = readonly_;
  for (const Words& words : queued) {
    const CommandSpec& spec = *find_command(words[0], dialect());
    asked.write = asked.write || spec.write;
    for (std::string& key : keys_of(spec, words)) asked.keys.push_back(std::move(key));
  }
  const bool down = now < node().faults.down_until;
  const Ruling ruling = rule_on(asked, node().view, *node().keys, dialect(), down, now);
  if (ruling.verdict != Verdict::served) {
    refuse(error_of(ruling, node().view, dialect()));
    return;
  }
  for (const auto& [key, before] : watched) {
    if (held(key, now) != before) return reply().null();
  }
  reply().array(queued.size());
  for (const Words& words : queued) run_on_keys(*find_command(words[0], dialect()), words, now);
}

void ModelConnection::discard() {
  if (!queued_) {
    refuse("ERR DISCARD without MULTI");
    return;
  }
  queued_.reset();
  watched_.clear();
  reply().ok();
}

void ModelConnection::run_on_cluster(const Words& words, Deadline now) {
  const std::string name = lower(words[1]);
  if (name == "nodes" || name == "shards" || name == "slots") {
    cluster_.log().add_fetch(client_, node_, now);
  }
  ReplyWriter writer = reply();
  run_cluster_command(words, node(), dialect(), now, writer);
}

// ---- of the connection itself

// The beginning of each entry, which all servers report.
void ModelConnection::list_commands() {
  reply().array(all_commands().size());
  for (const CommandSpec& spec : all_commands()) {
    const bool has_keys = spec.keys != CommandKeys::none;
    const bool only_first = spec.keys == CommandKeys::first;
    reply().array(6);
    reply().bulk(spec.name);
    reply().number(spec.arity);
    reply().array(1);
    reply().status(spec.write ? "write" : "readonly");
    reply().number(has_keys ? 1 : 0);
    reply().number(only_first ? 1 : has_keys ? -1 : 0);
    reply().number(spec.keys == CommandKeys::odd ? 2 : has_keys ? 1 : 0);
  }
}

void ModelConnection::run_on_connection(const CommandSpec& spec, const Words& words, Deadline now) {
  if (spec.name == "ping") return ping(words);
  if (spec.name == "watch") return watch(words, now);
  if (spec.name == "exec") return execute(now);
  if (spec.name == "discard") return discard();
  if (spec.name == "hello") return hello(words);
  if (spec.name == "client") return client_command(words);
  if (spec.name == "command") return list_commands();
  if (spec.name == "info") {
    const std::string section = words.size() > 1 ? lower(words[1]) : std::string();
    return reply().verbatim(info_text(section, node(), dialect()));
  }
  if (spec.name == "auth") {
    if (words.size() > 3) return reply().error("ERR syntax error");
    const std::string_view user = words.size() == 3 ? std::string_view(words[1]) : "default";
    const std::string_view error = log_in(user, words.back());
    return error.empty() ? reply().ok() : reply().error(error);
  }
  if (spec.name == "multi") queued_.emplace();
  if (spec.name == "unwatch") watched_.clear();
  if (spec.name == "asking") asking_ = true;
  if (spec.name == "readonly") readonly_ = true;
  if (spec.name == "readwrite") readonly_ = false;
  reply().ok();
}

void ModelConnection::ping(const Words& words) {
  if (words.size() > 2) return reply().error(wrong_arity("ping"));
  words.size() == 2 ? reply().bulk(words[1]) : reply().status("PONG");
}

std::string_view ModelConnection::log_in(std::string_view user, std::string_view password) {
  if (!cluster_.wants_password() && user == "default") {
    return "ERR AUTH <password> called without any password configured for the default user. Are "
           "you sure your configuration is correct?";
  }
  if (!cluster_.takes(password)) {
    return "WRONGPASS invalid username-password pair or user is disabled.";
  }
  client_ = user;
  password_ = password;
  logged_in_ = true;
  return {};
}

void ModelConnection::hello(const Words& words) {
  if (words.size() > 1) {
    const auto version = protocol::resp::parse_number(words[1]);
    if (!version) {
      return reply().error("ERR Protocol version is not an integer or out of range");
    }
    if (*version < 2 || *version > 3) {
      return reply().error(dialect().is_garnet() ? "ERR Unsupported protocol version"
                                                 : "NOPROTO unsupported protocol version");
    }
    if (!hello_options(words)) return;
    protocol_ = static_cast<int>(*version);
  }
  if (!logged_in_ && !dialect().is_garnet()) {
    protocol_ = 2;
    return reply().error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
  }
  write_greeting();
}

// False: an error was written.
bool ModelConnection::hello_options(const Words& words) {
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string name = lower(words[i]);
    const std::size_t left = words.size() - i - 1;
    if (name == "auth" && left >= 2) {
      const std::string_view error = log_in(words[i + 1], words[i + 2]);
      if (!error.empty()) return reply().error(error), false;
      i += 2;
    } else if (name == "setname" && left >= 1) {
      name_ = words[++i];
    } else {
      return reply().error("ERR Syntax error in HELLO option '" + words[i] + "'"), false;
    }
  }
  return true;
}

void ModelConnection::write_greeting() {
  ReplyWriter writer = reply();
  const bool garnet = dialect().is_garnet();
  const auto text = [&writer](std::string_view key, std::string_view value) {
    writer.bulk(key);
    writer.bulk(value);
  };
  writer.map(garnet ? 8 : 7);
  text("server", "redis");
  text("version", garnet ? "7.4.3" : std::string_view(dialect().version));
  if (garnet) text("garnet_version", dialect().version);
  writer.bulk("proto");
  writer.number(protocol_);
  writer.bulk("id");
  writer.number(static_cast<std::int64_t>(number_));
  text("mode", "cluster");
  text("role", node().view.own().is_replica() ? "replica" : "master");
  writer.bulk("modules");
  writer.array(0);
}

void ModelConnection::client_command(const Words& words) {
  const std::string name = lower(words[1]);
  if (name == "id") return reply().number(static_cast<std::int64_t>(number_));
  if (name == "getname") return name_.empty() ? reply().null() : reply().bulk(name_);
  if (name == "setname" && words.size() == 3) {
    name_ = words[2];
    return reply().ok();
  }
  if (name == "setinfo" && dialect().has_setinfo) return reply().ok();
  const bool tracking = name == "tracking" && words.size() == 3 && lower(words[2]) == "on";
  if (tracking && protocol_ == 3 && !dialect().is_garnet()) {
    tracks_ = true;
    return reply().ok();
  }
  reply().error(unknown_subcommand(words));
}

}  // namespace sheaf::test::resp_model
