// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/reply_reader.h"

#include <algorithm>
#include <bit>

namespace sheaf::protocol::resp {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::size_t longest_number = 64;     // digits of a number, a real or a length
constexpr std::size_t kept_when_idle = 4'096;  // elements that an idle connection may hold

constexpr std::string_view sentence(ReplyFault::Kind kind) noexcept {
  using enum ReplyFault::Kind;
  switch (kind) {
    case no_type:
      return "a byte that begins no reply";
    case streamed:
      return "a streamed reply";
    case bad_number:
      return "a malformed number or length";
    case bad_real:
      return "a malformed real number";
    case bad_boolean:
      return "a malformed boolean";
    case bad_null:
      return "a malformed null";
    case bad_verbatim:
      return "a verbatim text without a format";
    case bad_line_end:
      return "a misplaced or missing CR LF";
    case nested_push:
      return "a push inside a reply";
    case line_too_long:
      return "a line above its limit";
    case text_too_long:
      return "a text above its limit";
    case reply_too_long:
      return "a reply above its limit of bytes";
    case too_many_elements:
      return "a reply above its limit of elements";
    case too_deep:
      return "a reply above its limit of depth";
  }
  return {};
}

}  // namespace

std::string ReplyFault::message() const {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out(sentence(kind));
  out.append(" (0x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
  return out.append(" at byte ").append(std::to_string(at)).append(" of a reply)");
}

void ReplyReader::begin_reply() noexcept {
  done_ = false;
  if (elements_.capacity() > kept_when_idle) std::vector<Element>().swap(elements_);
  elements_.clear();
  open_.clear();
  at_ = searched_ = 0;
  announced_ = 0;
}

ReplyReader::Progress ReplyReader::read(std::string_view data) {
  if (broken_) return Progress::broken;
  if (done_) begin_reply();
  for (;;) {
    const Step step = line_end_due_ ? read_line_end(data) : read_element(data);
    switch (step) {
      case Step::need_input:
        return Progress::need_input;
      case Step::pass_over:
        return Progress::pass_over;
      case Step::broken:
        return Progress::broken;
      case Step::opened:
        break;
      case Step::value:
        if (!close_element()) break;
        bytes_ = data.data();
        size_ = at_;
        done_ = true;
        return Progress::complete;
    }
  }
}

ReplyReader::Step ReplyReader::read_element(std::string_view data) {
  if (data.size() <= at_) return Step::need_input;
  switch (data[at_]) {
    case '$':
      return read_text(data, Type::text);
    case '+':
      return read_line(data, Type::status, limits_.line);
    case '-':
      return read_line(data, Type::error, limits_.line);
    case ':':
      return read_line(data, Type::number, longest_number);
    case '_':
      return read_line(data, Type::null, longest_number);
    case ',':
      return read_line(data, Type::real, longest_number);
    case '#':
      return read_line(data, Type::boolean, longest_number);
    case '(':
      return read_line(data, Type::big_number, limits_.line);
    case '!':
      return read_text(data, Type::error);
    case '=':
      return read_text(data, Type::verbatim);
    case '*':
      return read_aggregate(data, Type::array);
    case '%':
      return read_aggregate(data, Type::map);
    case '~':
      return read_aggregate(data, Type::set);
    case '|':
      return read_aggregate(data, Type::map, true);
    case '>':
      return open_.empty() ? read_aggregate(data, Type::push) : fail(Fault::nested_push, data, at_);
    case ';':
    case '.':
      return fail(Fault::streamed, data, at_);
    default:
      return fail(Fault::no_type, data, at_);
  }
}

// The line after the type, without its end; else `step` says what to do.
std::optional<std::string_view> ReplyReader::line(std::string_view data, std::size_t limit,
                                                  Step& step) {
  const std::size_t begin = at_ + 1;
  const std::size_t most = std::min<std::size_t>(begin + limit + line_end.size(), limits_.bytes);
  const std::string_view searchable = data.substr(0, most);
  const std::size_t end = searchable.find('\n', std::max(begin, searched_));
  if (end == std::string_view::npos) {
    searched_ = searchable.size();
    if (searchable.size() < most) {
      step = Step::need_input;
    } else {
      step = fail(most < limits_.bytes ? Fault::line_too_long : Fault::reply_too_long, data, at_);
    }
    return std::nullopt;
  }
  const std::size_t first_cr = searchable.substr(0, end).find('\r', begin);
  if (first_cr != end - 1) {
    step = fail(Fault::bad_line_end, data, std::min(first_cr, end));
    return std::nullopt;
  }
  return data.substr(begin, end - 1 - begin);
}

// What is one line: its type says what the line must be.
ReplyReader::Step ReplyReader::read_line(std::string_view data, Type type, std::size_t limit) {
  Step step = Step::need_input;
  const auto text = line(data, limit, step);
  if (!text) return step;
  const std::size_t begin = at_ + 1;
  const std::size_t end = begin + text->size() + line_end.size();
  switch (type) {
    case Type::number: {
      const auto number = parse_number(*text);
      return number ? add(type, static_cast<std::uint64_t>(*number), 0, end)
                    : fail(Fault::bad_number, data, begin);
    }
    case Type::real: {
      const auto real = parse_real(*text);
      return real ? add(type, std::bit_cast<std::uint64_t>(*real), 0, end)
                  : fail(Fault::bad_real, data, begin);
    }
    case Type::boolean:
      if (*text != "t" && *text != "f") return fail(Fault::bad_boolean, data, begin);
      return add(type, *text == "t" ? 1 : 0, 0, end);
    case Type::null:
      return text->empty() ? add(type, 0, 0, end) : fail(Fault::bad_null, data, begin);
    case Type::big_number: {
      const std::string_view digits = text->substr(text->starts_with('-') ? 1 : 0);
      const bool good = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
      return good ? add(type, begin, text->size(), end) : fail(Fault::bad_number, data, begin);
    }
    default:
      return add(type, begin, text->size(), end);
  }
}

// What has a length before it.
ReplyReader::Step ReplyReader::read_text(std::string_view data, Type type) {
  Step step = Step::need_input;
  const auto length = line(data, longest_number, step);
  if (!length) return step;
  const std::size_t begin = at_ + 1 + length->size() + line_end.size();
  if (*length == "?") return fail(Fault::streamed, data, at_ + 1);
  if (*length == "-1" && type == Type::text) return add(Type::null, 0, 0, begin);
  const auto size = parse_number(*length);
  if (!size || *size < 0) return fail(Fault::bad_number, data, at_ + 1);
  const auto wanted = static_cast<std::uint64_t>(*size);
  if (wanted > limits_.text) {
    if (type != Type::text || !open_.empty()) return fail(Fault::text_too_long, data, at_);
    size_ = begin + wanted;
    elements_.push_back({Type::too_large, 0, 1, wanted});
    line_end_due_ = true;
    return Step::pass_over;
  }
  const std::size_t end = begin + wanted + line_end.size();
  if (end > limits_.bytes) return fail(Fault::reply_too_long, data, at_);
  if (data.size() < end) return Step::need_input;
  for (std::size_t i = 0; i < line_end.size(); ++i) {
    const std::size_t at = begin + wanted + i;
    if (data[at] != line_end[i]) return fail(Fault::bad_line_end, data, at);
  }
  if (type != Type::verbatim) return add(type, begin, wanted, end);
  constexpr std::size_t format = 4;  // "txt:"
  if (wanted < format || data[begin + format - 1] != ':') {
    return fail(Fault::bad_verbatim, data, begin);
  }
  return add(type, begin + format, wanted - format, end);
}

ReplyReader::Step ReplyReader::read_aggregate(std::string_view data, Type type, bool attribute) {
  Step step = Step::need_input;
  const auto length = line(data, longest_number, step);
  if (!length) return step;
  const std::size_t end = at_ + 1 + length->size() + line_end.size();
  if (*length == "?") return fail(Fault::streamed, data, at_ + 1);
  if (*length == "-1" && type == Type::array) return add(Type::null, 0, 0, end);
  const auto size = parse_number(*length);
  if (!size || *size < 0) return fail(Fault::bad_number, data, at_ + 1);
  const std::uint64_t room = limits_.elements - announced_;
  const std::uint64_t each = type == Type::map ? 2 : 1;
  if (static_cast<std::uint64_t>(*size) > room / each) {
    return fail(Fault::too_many_elements, data, at_);
  }
  const auto count = static_cast<std::uint32_t>(static_cast<std::uint64_t>(*size) * each);
  if (attribute && count == 0) {
    at_ = end;
    return Step::opened;
  }
  if (count > 0) {
    if (open_.size() >= limits_.depth) return fail(Fault::too_deep, data, at_);
    open_.push_back({static_cast<std::uint32_t>(elements_.size()), count, attribute});
    announced_ += count;
  }
  add(type, 0, count, end);
  return count > 0 ? Step::opened : Step::value;
}

// After a text that was passed over. The caller has consumed it, so its end is at the front.
ReplyReader::Step ReplyReader::read_line_end(std::string_view data) {
  for (std::size_t i = 0; i < line_end.size(); ++i) {
    if (data.size() <= i) return Step::need_input;
    if (data[i] != line_end[i]) return fail(Fault::bad_line_end, data, i);
  }
  line_end_due_ = false;
  at_ = line_end.size();
  return Step::value;
}

// A value has ended, and perhaps the aggregates it was the last of. True if that was the reply.
bool ReplyReader::close_element() noexcept {
  while (!open_.empty()) {
    Open& last = open_.back();
    if (--last.left > 0) return false;
    const std::uint32_t element = last.element;
    const bool attribute = last.attribute;
    open_.pop_back();
    if (attribute) {
      elements_.resize(element);
      return false;  // what it belongs to comes now
    }
    elements_[element].span = static_cast<std::uint32_t>(elements_.size() - element);
  }
  return true;
}

ReplyReader::Step ReplyReader::add(Type type, std::uint64_t value, std::size_t size,
                                   std::size_t end) {
  elements_.push_back({type, static_cast<std::uint32_t>(size), 1, value});
  at_ = end;
  return Step::value;
}

ReplyReader::Step ReplyReader::fail(Fault kind, std::string_view data, std::size_t at) noexcept {
  broken_ = true;
  fault_ = {kind, static_cast<std::uint8_t>(data[at]), at};
  return Step::broken;
}

}  // namespace sheaf::protocol::resp
