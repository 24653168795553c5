// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/wire/command_reply.h"

#include <array>
#include <cstring>
#include <limits>
#include <memory>

#include "protocol/resp/wire/reply_reader.h"
#include "protocol/resp/wire/whole_text.h"

namespace sheaf {
inline namespace v0 {

// An element of the whole reply, which its values share: an array of its elements, then its bytes
// in the memory of more elements. The first element covers all others.
struct CommandReply::Tree : protocol::resp::Element {
  static CommandReply value(std::shared_ptr<const Tree> tree, std::size_t element) noexcept {
    return {std::move(tree), element};
  }
  static protocol::resp::Value at(const CommandReply& reply) noexcept {
    const Tree* const first = reply.tree_.get();
    if (first == nullptr) return {};
    return {first + reply.element_, reinterpret_cast<const char*>(first + first->span)};
  }
  static CommandReply copy_of(const protocol::resp::Value& root, std::string_view bytes) {
    const std::size_t elements = root.element().span;
    const std::size_t room = (bytes.size() + sizeof(Tree) - 1) / sizeof(Tree);
    const auto tree = std::make_shared_for_overwrite<Tree[]>(elements + room);
    for (std::size_t i = 0; i < elements; ++i) tree.get()[i] = {*(&root.element() + i)};
    std::memcpy(static_cast<void*>(tree.get() + elements), bytes.data(), bytes.size());
    return value(std::shared_ptr<const Tree>(tree, tree.get()), 0);
  }
};

namespace {

using protocol::resp::Type;

constexpr std::array<std::string_view, 12> kind_names{"null",       "number", "real",     "boolean",
                                                      "big_number", "text",   "verbatim", "status",
                                                      "error",      "array",  "set",      "map"};

}  // namespace

CommandReply::Kind CommandReply::kind() const noexcept {
  switch (Tree::at(*this).type()) {
    case Type::null:
    case Type::too_large:  // never in a reply that was kept
      return Kind::null;
    case Type::status:
      return Kind::status;
    case Type::error:
      return Kind::error;
    case Type::number:
      return Kind::number;
    case Type::text:
      return Kind::text;
    case Type::verbatim:
      return Kind::verbatim;
    case Type::real:
      return Kind::real;
    case Type::boolean:
      return Kind::boolean;
    case Type::big_number:
      return Kind::big_number;
    case Type::array:
    case Type::push:  // belongs to no command
      return Kind::array;
    case Type::map:
      return Kind::map;
    case Type::set:
      return Kind::set;
  }
  return Kind::null;
}

std::optional<std::int64_t> CommandReply::number() const noexcept {
  const protocol::resp::Value value = Tree::at(*this);
  return value.is(Type::number) ? value.number() : std::nullopt;
}

std::optional<double> CommandReply::real() const noexcept {
  const protocol::resp::Value value = Tree::at(*this);
  return value.is(Type::real) ? value.real() : std::nullopt;
}

std::optional<bool> CommandReply::boolean() const noexcept {
  const protocol::resp::Value value = Tree::at(*this);
  return value.is(Type::boolean) ? value.boolean() : std::nullopt;
}

std::optional<std::string_view> CommandReply::text() const noexcept {
  const protocol::resp::Value value = Tree::at(*this);
  if (!value.is_text() && !value.is(Type::big_number)) return std::nullopt;
  return value.text();
}

std::optional<std::string_view> CommandReply::error() const noexcept {
  const protocol::resp::Value value = Tree::at(*this);
  if (!value.is_error()) return std::nullopt;
  return value.text();
}

std::size_t CommandReply::size() const noexcept { return Tree::at(*this).size(); }

CommandReply CommandReply::operator[](std::size_t index) const noexcept {
  if (index >= size()) return {};
  Iterator it = begin();
  while (index-- > 0) ++it;
  return *it;
}

std::optional<CommandReply> CommandReply::find(std::string_view key) const noexcept {
  const Iterator last = end();
  for (Iterator it = begin(); it != last; ++it) {
    const CommandReply name = *it;
    if (++it == last) break;
    if (name.text() == key) return *it;
  }
  return std::nullopt;
}

CommandReply::Iterator CommandReply::begin() const noexcept {
  return Iterator(Tree::value(tree_, element_ + 1));
}

CommandReply::Iterator CommandReply::end() const noexcept {
  const std::size_t span = size() > 0 ? Tree::at(*this).element().span : 1;
  return Iterator(Tree::value(tree_, element_ + span));
}

CommandReply::Iterator& CommandReply::Iterator::operator++() noexcept {
  at_.element_ += Tree::at(at_).element().span;
  return *this;
}

std::string_view to_string(CommandReply::Kind kind) noexcept {
  return kind_names[static_cast<std::size_t>(kind)];
}

}  // namespace v0
}  // namespace sheaf

namespace sheaf::protocol::resp {

// The session has already checked its own limits.
std::optional<CommandReply> read_command_reply(std::string_view bytes) {
  if (const auto whole = read_whole_text(bytes); whole && whole->size == bytes.size()) {
    const auto begin = static_cast<std::uint64_t>(whole->text.data() - bytes.data());
    const Element text{Type::text, static_cast<std::uint32_t>(whole->text.size()), 1, begin};
    return CommandReply::Tree::copy_of(Value(&text, bytes.data()), bytes);
  }
  constexpr std::uint32_t any = std::numeric_limits<std::uint32_t>::max();
  ReplyReader reader({.text = any, .line = any, .bytes = any, .elements = any});
  const bool complete = reader.read(bytes) == ReplyReader::Progress::complete;
  if (!complete || reader.size() != bytes.size()) return std::nullopt;
  return CommandReply::Tree::copy_of(reader.root(), bytes);
}

}  // namespace sheaf::protocol::resp
