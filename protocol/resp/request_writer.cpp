// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/request_writer.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "protocol/resp/changes/rules.h"

namespace sheaf::protocol::resp {

OutputQueue::FrameId RequestWriter::write_no_op() {
  queue_.reserve(1);
  return add(Question::probe, commands_.write(ping_command), false).frame;
}

std::expected<Ticket, LocalError> RequestWriter::write(const Operation& operation) {
  if (auto error = refusal_of(operation, server_, options_.value_limit)) {
    return std::unexpected(std::move(*error));
  }
  if (is_change(operation)) return changes_.begin(operation);
  queue_.reserve(1);
  switch (operation.verb) {
    case Verb::get:
      return write_one(Question::value, operation, {"GET", operation.key}).ticket;
    case Verb::get_many:
      return write_many(operation).ticket;
    case Verb::set_many:
      return write_set_many(operation).ticket;
    case Verb::set:
    case Verb::get_and_set:
      return write_set(operation).ticket;
    case Verb::remove:
      return write_one(Question::remove, operation, {"DEL", operation.key}).ticket;
    case Verb::touch:
      return write_touch(operation).ticket;
    case Verb::get_and_touch:
      return write_getex(Question::value, operation).ticket;
    case Verb::probe:
      return write_one(Question::probe, operation, ping_command).ticket;
    case Verb::server_version:
      return write_one(Question::version, operation, ping_command).ticket;
    case Verb::stats:
      return write_stats(operation).ticket;
    case Verb::command:
      return (operation.commands.empty() ? write_words(operation) : write_commands(operation))
          .ticket;
    case Verb::watch:
      return write_watch(operation).ticket;
    case Verb::unwatch:  // no command makes a server forget a key; it does with the next push
      return write_one(Question::probe, operation, ping_command).ticket;
    default:
      return std::unexpected(unsupported("unknown verb"));
  }
}

// There must be room.
Pending& RequestWriter::add(Question question, OutputQueue::FrameId frame,
                            bool with_ticket) noexcept {
  Pending& request = queue_.add(with_ticket);
  request.question = question;
  request.frame = frame;
  return request;
}

// ASKING applies to the next command. On Garnet it applies to a whole run of GETs that arrive
// together, so a PING separates it from the GETs of others.
Pending& RequestWriter::write_one(Question question, const Operation& operation, Command command) {
  const std::array<Command, 3> together{Command(asking_command), command, Command(ping_command)};
  Pending& request = add(
      question, operation.asking ? commands_.write_together(together) : commands_.write(command));
  if (needs_key(operation.verb)) request.slot = hash_slot(operation.key);
  if (!operation.asking) return request;
  request.asks = true;
  request.part = Pending::Part::asking;
  request.acts_early = true;
  return request;
}

Pending& RequestWriter::write_set(const Operation& operation) {
  std::array<Argument, 7> words{"SET", operation.key, operation.value};
  std::size_t count = 3;
  if (operation.ttl.count() > 0) {
    const Expiry expiry = expiry_of(operation.ttl);
    words[count++] = expiry.unit;
    words[count++] = expiry.number;
  }
  if (operation.condition == Condition::if_absent) words[count++] = "NX";
  if (operation.condition == Condition::if_present) words[count++] = "XX";
  if (operation.verb == Verb::get_and_set) {
    words[count++] = "GET";
    Pending& request = write_one(Question::exchange, operation, Command(words.data(), count));
    request.conditional = operation.condition == Condition::if_absent;
    return request;
  }
  Pending& request = write_one(Question::store, operation, Command(words.data(), count));
  request.conditional = operation.condition != Condition::none;
  request.version = ValueVersion::of(operation.value);
  return request;
}

Pending& RequestWriter::write_touch(const Operation& operation) {
  if (!touches_by_pexpire(operation, server_)) {
    return write_getex(Question::touch_by_value, operation);
  }
  return write_one(Question::touch, operation, {"PEXPIRE", operation.key, operation.ttl.count()});
}

Pending& RequestWriter::write_getex(Question question, const Operation& operation) {
  if (operation.ttl.count() == 0) {
    return write_one(question, operation, {"GETEX", operation.key, "PERSIST"});
  }
  const Expiry expiry = expiry_of(operation.ttl);
  return write_one(question, operation, {"GETEX", operation.key, expiry.unit, expiry.number});
}

Pending& RequestWriter::write_stats(const Operation& operation) {
  if (operation.key.empty()) return write_one(Question::stats, operation, {"INFO"});
  return write_one(Question::stats, operation, {"INFO", operation.key});
}

Pending& RequestWriter::write_words(const Operation& operation) {
  const auto write = [&]() -> Pending& {
    if (!operation.asking) return add(Question::command, commands_.write_texts(operation.words));
    const std::vector<Argument> words(operation.words.begin(), operation.words.end());
    return write_one(Question::command, operation, words);
  };
  Pending& request = write();
  request.texts = operation.words;
  return request;
}

Pending& RequestWriter::write_commands(const Operation& operation) {
  SHEAF_CHECK(operation.commands.size() == operation.keys.size());
  Pending& request = add(Question::commands, commands_.write_commands(operation.commands));
  request.keys = static_cast<std::uint32_t>(operation.keys.size());
  request.texts = operation.keys;
  request.acts_early = true;
  return request;
}

// EXISTS counts as a read, so the server remembers the key, but it transfers no value.
Pending& RequestWriter::write_watch(const Operation& operation) {
  queue_.reserve(2);
  if (tracking_.must_ask(server_.protocol)) {
    add(Question::tracking, commands_.write({"CLIENT", "TRACKING", "ON"}), false);
    tracking_.on_asked();
  }
  return write_one(Question::watch, operation, {"EXISTS", operation.key});
}

Pending& RequestWriter::write_many(const Operation& operation) {
  const bool together = operation.may_be_unsure && mget_.suits(operation.keys, server_);
  Pending& request = add(Question::many, together ? commands_.write_all("MGET", operation.keys)
                                                  : commands_.write_each("GET", operation.keys));
  request.keys = static_cast<std::uint32_t>(operation.keys.size());
  request.texts = operation.keys;
  request.array = together ? Pending::Array::awaited : Pending::Array::none;
  request.acts_early = !together;
  return request;
}

Pending& RequestWriter::write_set_many(const Operation& operation) {
  SHEAF_CHECK(operation.values.size() == operation.keys.size());
  const bool together = mset_.suits(operation.keys, server_);
  Pending& request =
      add(Question::store_many, commands_.write_pairs(operation.keys, operation.values, together));
  request.keys = static_cast<std::uint32_t>(operation.keys.size());
  request.texts = operation.keys;
  request.values = operation.values;
  request.array = together ? Pending::Array::awaited : Pending::Array::none;
  request.acts_early = !together;
  return request;
}

}  // namespace sheaf::protocol::resp
