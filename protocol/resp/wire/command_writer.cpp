// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/wire/command_writer.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace sheaf::protocol::resp {
namespace {

constexpr std::string_view crlf = "\r\n";

constexpr std::size_t digits_of(std::uint64_t number) noexcept {
  std::size_t digits = 1;
  for (; number >= 10; number /= 10) ++digits;
  return digits;
}

std::size_t size_of(const Argument& argument) noexcept {
  if (!argument.is_number()) return argument.text().size();
  return digits_of(argument.magnitude()) + (argument.negative() ? 1 : 0);
}

// The type, a number and the line end.
std::size_t header_size(std::size_t number) noexcept { return 1 + digits_of(number) + crlf.size(); }

std::size_t text_size(std::size_t size) noexcept { return header_size(size) + size + crlf.size(); }

// Writes words into memory that is large enough.
class Cursor {
 public:
  Cursor(char* at, char* end) noexcept : at_(at), end_(end) {}

  void number(std::uint64_t number) noexcept { at_ = std::to_chars(at_, end_, number).ptr; }
  void bytes(std::string_view bytes) noexcept { at_ += bytes.copy(at_, bytes.size()); }
  void header(char type, std::size_t size) noexcept {
    *at_++ = type;
    number(size);
    bytes(crlf);
  }
  void text(std::string_view text) noexcept {
    header('$', text.size());
    bytes(text);
    bytes(crlf);
  }
  const char* at() const noexcept { return at_; }

 private:
  char* at_;
  char* const end_;
};

// Appends what `write` puts at a Cursor, at most `most` bytes.
template <class Write>
void append(std::string& out, std::size_t most, const Write& write) {
  const std::size_t before = out.size();
  out.resize_and_overwrite(before + most, [&](char* bytes, std::size_t size) {
    Cursor cursor(bytes + before, bytes + size);
    write(cursor);
    return static_cast<std::size_t>(cursor.at() - bytes);
  });
}

struct Sizes {
  std::size_t owned = 0;              // all bytes except those of `largest`
  const Argument* largest = nullptr;  // the largest text
};

Sizes sizes_of(std::span<const Command> commands) noexcept {
  Sizes sizes;
  for (const Command command : commands) {
    sizes.owned += header_size(command.size());
    for (const Argument& argument : command) {
      const std::size_t size = size_of(argument);
      sizes.owned += header_size(size) + size + crlf.size();
      if (argument.is_number()) continue;
      if (sizes.largest == nullptr || size > sizes.largest->text().size()) {
        sizes.largest = &argument;
      }
    }
  }
  if (sizes.largest != nullptr) sizes.owned -= sizes.largest->text().size();
  return sizes;
}

}  // namespace

OutputQueue::FrameId CommandWriter::write_together(std::span<const Command> commands) {
  const Sizes sizes = sizes_of(commands);
  const std::string_view largest = sizes.largest != nullptr ? sizes.largest->text() : "";
  const bool borrows = largest.size() > OutputQueue::copy_limit;
  const std::size_t bytes = sizes.owned + (borrows ? 0 : largest.size());
  output_.reserve(sizes.owned, largest.size());
  const char* borrow_at = nullptr;
  const char* end = nullptr;
  append(output_.buffer(), bytes, [&](Cursor& out) {
    for (const Command command : commands) {
      out.header('*', command.size());
      for (const Argument& argument : command) {
        if (borrows && &argument == sizes.largest) {
          out.header('$', largest.size());
          borrow_at = out.at();
          out.bytes(crlf);
        } else if (!argument.is_number()) {
          out.text(argument.text());
        } else {
          out.header('$', size_of(argument));
          if (argument.negative()) out.bytes("-");
          out.number(argument.magnitude());
          out.bytes(crlf);
        }
      }
    }
    end = out.at();
  });
  if (borrows) output_.borrow(largest, static_cast<std::size_t>(end - borrow_at));
  return output_.end();
}

void CommandWriter::put_copies(std::span<const std::span<const std::string_view>> commands) {
  std::size_t bytes = 0;
  for (const auto words : commands) {
    bytes += header_size(words.size());
    for (const std::string_view word : words) bytes += text_size(word.size());
  }
  output_.reserve(bytes);
  append(output_.buffer(), bytes, [&](Cursor& out) {
    for (const auto words : commands) {
      out.header('*', words.size());
      for (const std::string_view word : words) out.text(word);
    }
  });
}

OutputQueue::FrameId CommandWriter::write_commands(
    std::span<const std::span<const std::string_view>> commands) {
  put_copies(commands);
  return output_.end();
}

OutputQueue::FrameId CommandWriter::write_texts(std::span<const std::string_view> words) {
  const auto is_large = [](std::string_view word) { return word.size() > OutputQueue::copy_limit; };
  if (std::ranges::any_of(words, is_large)) {
    return write(std::vector<Argument>(words.begin(), words.end()));
  }
  put_copies({&words, 1});
  return output_.end();
}

OutputQueue::FrameId CommandWriter::write_secret(std::initializer_list<std::string_view> command) {
  const std::span<const std::string_view> words(command.begin(), command.size());
  put_copies({&words, 1});
  return output_.end_secret();
}

OutputQueue::FrameId CommandWriter::write_each(std::string_view name,
                                               std::span<const std::string_view> texts) {
  std::size_t bytes = texts.size() * (header_size(2) + text_size(name.size()));
  for (const std::string_view text : texts) bytes += text_size(text.size());
  output_.reserve(bytes);
  append(output_.buffer(), bytes, [&](Cursor& out) {
    for (const std::string_view text : texts) {
      out.header('*', 2);
      out.text(name);
      out.text(text);
    }
  });
  return output_.end();
}

OutputQueue::FrameId CommandWriter::write_all(std::string_view name,
                                              std::span<const std::string_view> texts) {
  std::size_t bytes = header_size(1 + texts.size()) + text_size(name.size());
  for (const std::string_view text : texts) bytes += text_size(text.size());
  output_.reserve(bytes);
  append(output_.buffer(), bytes, [&](Cursor& out) {
    out.header('*', 1 + texts.size());
    out.text(name);
    for (const std::string_view text : texts) out.text(text);
  });
  return output_.end();
}

OutputQueue::FrameId CommandWriter::write_pairs(std::span<const std::string_view> keys,
                                                std::span<const std::string_view> values,
                                                bool together) {
  constexpr std::string_view set = "SET";
  constexpr std::string_view mset = "MSET";
  std::size_t bytes = header_size(1 + 2 * keys.size()) + text_size(mset.size());
  if (!together) bytes = keys.size() * (header_size(3) + text_size(set.size()));
  for (const std::string_view key : keys) bytes += text_size(key.size());
  for (const std::string_view value : values) bytes += text_size(value.size());
  output_.reserve(bytes);
  append(output_.buffer(), bytes, [&](Cursor& out) {
    if (together) {
      out.header('*', 1 + 2 * keys.size());
      out.text(mset);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!together) {
        out.header('*', 3);
        out.text(set);
      }
      out.text(keys[i]);
      out.text(values[i]);
    }
  });
  return output_.end();
}

}  // namespace sheaf::protocol::resp
