// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/wire/command_writer.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/byte_writer.h"

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

constexpr std::size_t longest_header = 1 + 20 + crlf.size();

inline void put_header(ByteWriter& out, char type, std::size_t number) {
  std::array<char, longest_header> text;
  std::size_t at = text.size();
  text[--at] = '\n';
  text[--at] = '\r';
  do text[--at] = static_cast<char>('0' + number % 10);
  while ((number /= 10) > 0);
  text[--at] = type;
  out.bytes({text.data() + at, text.size() - at});
}

std::size_t text_size(std::size_t size) noexcept { return header_size(size) + size + crlf.size(); }

void put_text(ByteWriter& out, std::string_view text) {
  put_header(out, '$', text.size());
  out.bytes(text);
  out.bytes(crlf);
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
  output_.reserve(sizes.owned, sizes.largest != nullptr ? sizes.largest->text().size() : 0);
  ByteWriter out(output_.buffer());
  for (const Command command : commands) {
    put_header(out, '*', command.size());
    for (const Argument& argument : command) {
      put_header(out, '$', size_of(argument));
      if (&argument == sizes.largest) {
        output_.put_value(argument.text());
      } else if (!argument.is_number()) {
        out.bytes(argument.text());
      } else {
        if (argument.negative()) out.u8('-');
        out.decimal(argument.magnitude());
      }
      out.bytes(crlf);
    }
  }
  return output_.end();
}

void CommandWriter::put_copies(std::span<const std::string_view> words) {
  std::size_t most = longest_header;
  for (const std::string_view word : words) most += longest_header + word.size() + crlf.size();
  output_.reserve(most);
  ByteWriter out(output_.buffer());
  put_header(out, '*', words.size());
  for (const std::string_view word : words) put_text(out, word);
}

OutputQueue::FrameId CommandWriter::write_texts(std::span<const std::string_view> words) {
  const auto is_large = [](std::string_view word) { return word.size() > OutputQueue::copy_limit; };
  if (std::ranges::any_of(words, is_large)) {
    return write(std::vector<Argument>(words.begin(), words.end()));
  }
  put_copies(words);
  return output_.end();
}

OutputQueue::FrameId CommandWriter::write_secret(std::initializer_list<std::string_view> command) {
  put_copies({command.begin(), command.size()});
  return output_.end_secret();
}

OutputQueue::FrameId CommandWriter::write_each(std::string_view name,
                                               std::span<const std::string_view> texts) {
  std::size_t bytes = texts.size() * (header_size(2) + text_size(name.size()));
  for (const std::string_view text : texts) bytes += text_size(text.size());
  output_.reserve(bytes);
  ByteWriter out(output_.buffer());
  for (const std::string_view text : texts) {
    put_header(out, '*', 2);
    put_text(out, name);
    put_text(out, text);
  }
  return output_.end();
}

OutputQueue::FrameId CommandWriter::write_all(std::string_view name,
                                              std::span<const std::string_view> texts) {
  std::size_t bytes = header_size(1 + texts.size()) + text_size(name.size());
  for (const std::string_view text : texts) bytes += text_size(text.size());
  output_.reserve(bytes);
  ByteWriter out(output_.buffer());
  put_header(out, '*', 1 + texts.size());
  put_text(out, name);
  for (const std::string_view text : texts) put_text(out, text);
  return output_.end();
}

OutputQueue::FrameId CommandWriter::write_pairs(std::span<const std::string_view> keys,
                                                std::span<const std::string_view> values,
                                                bool together) {
  constexpr std::string_view set = "SET";
  constexpr std::string_view mset = "MSET";
  std::size_t bytes = longest_header + text_size(mset.size());
  if (!together) bytes = keys.size() * (header_size(3) + text_size(set.size()));
  for (const std::string_view key : keys) bytes += text_size(key.size());
  for (const std::string_view value : values) bytes += text_size(value.size());
  output_.reserve(bytes);
  ByteWriter out(output_.buffer());
  if (together) {
    put_header(out, '*', 1 + 2 * keys.size());
    put_text(out, mset);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!together) {
      put_header(out, '*', 3);
      put_text(out, set);
    }
    put_text(out, keys[i]);
    put_text(out, values[i]);
  }
  return output_.end();
}

}  // namespace sheaf::protocol::resp
