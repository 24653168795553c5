// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/wire/reply_reader.h"

#include <algorithm>
#include <bit>

#include "protocol/resp/wire/whole_text.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::size_t longest_number = 64;     // digits of a number, a real or a length
constexpr std::uint64_t shortest_value = 3;    // bytes: a null
constexpr std::size_t kept_when_idle = 4'096;  // elements that an idle connection may keep

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

// True for lines that are no number, no length and of no fixed form.
constexpr bool may_be_long(Type type) noexcept {
  return type == Type::status || type == Type::error || type == Type::big_number;
}

// RESP3 also allows a sign before positive numbers.
constexpr std::string_view without_plus(std::string_view text) noexcept {
  const bool has_one = text.size() > 1 && text[0] == '+' && text[1] >= '0' && text[1] <= '9';
  return text.substr(has_one ? 1 : 0);
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
  open_.clear();
  at_ = searched_ = 0;
  announced_ = 0;
  passes_over_ = false;
  passed_bytes_ = 0;
}

void ReplyReader::forget_elements() noexcept {
  if (elements_.capacity() > kept_when_idle) std::vector<Element>().swap(elements_);
  elements_.clear();
}

ReplyReader::Progress ReplyReader::read(std::string_view data) {
  if (broken_) return Progress::broken;
  if (done_) {
    forget_elements();
    if (data.empty()) return Progress::need_input;
    begin_reply();
  }
  for (;;) {
    const Step step = rest_ != Rest::none ? pass_rest(data) : read_element(data);
    switch (step) {
      case Step::need_input:
        return passes_over_ && at_ > 0 ? pass_over(at_) : Progress::need_input;
      case Step::pass_over:
        return pass_over(size_);
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
  if (passes_over_ && at_ >= room()) return fail(Fault::reply_too_long, data, at_);
  switch (data[at_]) {
    case '$':
      return read_text(data, Type::text);
    case '+':
      return read_line(data, Type::status);
    case '-':
      return read_line(data, Type::error);
    case ':':
      return read_line(data, Type::number);
    case '_':
      return read_line(data, Type::null);
    case ',':
      return read_line(data, Type::real);
    case '#':
      return read_line(data, Type::boolean);
    case '(':
      return read_line(data, Type::big_number);
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
      return open_.empty() && !passes_over_ ? read_aggregate(data, Type::push)
                                            : fail(Fault::nested_push, data, at_);
    case ';':
    case '.':
      return fail(Fault::streamed, data, at_);
    default:
      return fail(Fault::no_type, data, at_);
  }
}

// The line after the type, without its end; if it is missing, `step` says why.
std::optional<std::string_view> ReplyReader::line(std::string_view data, Type type, bool is_long,
                                                  Step& step) {
  const std::size_t begin = at_ + 1;
  const std::size_t longest = begin + (is_long ? limits_.line : longest_number) + line_end.size();
  const std::size_t most = passes_over_ ? longest : std::min<std::size_t>(longest, limits_.bytes);
  const std::string_view searchable = data.substr(0, most);
  const std::size_t end = searchable.find('\n', std::max(begin, searched_));
  if (end == std::string_view::npos) {
    searched_ = searchable.size();
    if (searchable.size() < most) {
      step = Step::need_input;
    } else if (most < longest) {
      step = exceed(Fault::reply_too_long, data, type);
    } else {
      step = is_long ? exceed(Fault::line_too_long, data, type)
                     : fail(Fault::line_too_long, data, at_);
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

// Reads a value of one line; its type determines the format.
ReplyReader::Step ReplyReader::read_line(std::string_view data, Type type) {
  if (passes_over_ && may_be_long(type)) return pass_line(data);
  Step step = Step::need_input;
  const auto text = line(data, type, may_be_long(type), step);
  if (!text) return step;
  const std::size_t begin = at_ + 1;
  const std::size_t end = begin + text->size() + line_end.size();
  switch (type) {
    case Type::number: {
      const auto number = parse_number(without_plus(*text));
      return number ? add(type, static_cast<std::uint64_t>(*number), 0, end)
                    : fail(Fault::bad_number, data, begin);
    }
    case Type::real: {
      const auto real = parse_real(without_plus(*text));
      return real ? add(type, std::bit_cast<std::uint64_t>(*real), 0, end)
                  : fail(Fault::bad_real, data, begin);
    }
    case Type::boolean:
      if (*text != "t" && *text != "f") return fail(Fault::bad_boolean, data, begin);
      return add(type, *text == "t" ? 1 : 0, 0, end);
    case Type::null:
      return text->empty() ? add(type, 0, 0, end) : fail(Fault::bad_null, data, begin);
    case Type::big_number: {
      const std::string_view number = without_plus(*text);
      const std::string_view digits = number.substr(number.starts_with('-') ? 1 : 0);
      const bool good = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
      const std::size_t sign = text->size() - number.size();
      return good ? add(type, begin + sign, number.size(), end)
                  : fail(Fault::bad_number, data, begin);
    }
    default:
      return add(type, begin, text->size(), end);
  }
}

// Reads a text within the limits that is here as a whole. If it is anything else, read_text() says
// what.
bool ReplyReader::read_usual_text(std::string_view data) {
  const auto whole = read_whole_text(data.substr(at_));
  if (!whole || whole->text.size() > limits_.text) return false;
  const std::size_t end = at_ + whole->size;
  if (end > limits_.bytes) return false;
  add(Type::text, static_cast<std::size_t>(whole->text.data() - data.data()), whole->text.size(),
      end);
  return true;
}

// Reads a value that begins with its length.
ReplyReader::Step ReplyReader::read_text(std::string_view data, Type type) {
  if (type == Type::text && !passes_over_ && read_usual_text(data)) return Step::value;
  Step step = Step::need_input;
  const auto length = line(data, type, false, step);
  if (!length) return step;
  const std::size_t begin = at_ + 1 + length->size() + line_end.size();
  if (*length == "?") return fail(Fault::streamed, data, at_ + 1);
  if (*length == "-1" && type == Type::text) return add(Type::null, 0, 0, begin);
  const auto size = parse_number(*length);
  if (!size || *size < 0) return fail(Fault::bad_number, data, at_ + 1);
  const auto wanted = static_cast<std::uint64_t>(*size);
  if (passes_over_) return pass_text(data, begin, wanted);
  if (wanted > limits_.text) return exceed(Fault::text_too_long, data, type);
  const std::size_t end = begin + wanted + line_end.size();
  if (end > limits_.bytes) return exceed(Fault::reply_too_long, data, type);
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
  // The value that an attribute of the whole reply belongs to is not known yet.
  const Type of = attribute && open_.empty() ? Type::too_large : type;
  Step step = Step::need_input;
  const auto length = line(data, of, false, step);
  if (!length) return step;
  const std::size_t end = at_ + 1 + length->size() + line_end.size();
  if (*length == "?") return fail(Fault::streamed, data, at_ + 1);
  if (*length == "-1" && type == Type::array) return add(Type::null, 0, 0, end);
  const auto size = parse_number(*length);
  if (!size || *size < 0) return fail(Fault::bad_number, data, at_ + 1);
  const std::uint64_t each = type == Type::map ? 2 : 1;
  const std::uint64_t most = passes_over_ ? most_passed_over() : limits_.elements - announced_;
  if (static_cast<std::uint64_t>(*size) > most / each) {
    return passes_over_ ? fail(Fault::too_many_elements, data, at_)
                        : exceed(Fault::too_many_elements, data, of);
  }
  const std::uint64_t count = static_cast<std::uint64_t>(*size) * each;
  if (passes_over_) return pass_aggregate(data, count, attribute, end);
  if (count > 0 && open_.size() >= limits_.depth) return exceed(Fault::too_deep, data, of);
  return open(static_cast<std::uint32_t>(count), type, attribute, end);
}

ReplyReader::Step ReplyReader::open(std::uint32_t count, Type type, bool attribute,
                                    std::size_t end) {
  if (attribute && count == 0) {
    at_ = end;
    return Step::opened;
  }
  if (count > 0) {
    open_.push_back({static_cast<std::uint32_t>(elements_.size()), count, attribute});
    announced_ += count;
  }
  add(type, 0, count, end);
  return count > 0 ? Step::opened : Step::value;
}

// Ends a value, and any aggregates that it was the last element of. True if that ended the reply.
bool ReplyReader::close_element() noexcept {
  if (passes_over_) {
    if (--left_ > 0) return false;
    elements_.push_back({Type::too_large, 0, 1, passed_bytes_ + at_});
    return true;
  }
  while (!open_.empty()) {
    Open& last = open_.back();
    if (--last.left > 0) return false;
    const std::uint32_t element = last.element;
    const bool attribute = last.attribute;
    open_.pop_back();
    if (attribute) {
      elements_.resize(element);
      return false;  // the value it belongs to comes now
    }
    elements_[element].span = static_cast<std::uint32_t>(elements_.size() - element);
  }
  return true;
}

ReplyReader::Step ReplyReader::add(Type type, std::uint64_t value, std::size_t size,
                                   std::size_t end) {
  if (!passes_over_) elements_.push_back({type, static_cast<std::uint32_t>(size), 1, value});
  at_ = end;
  return Step::value;
}

ReplyReader::Step ReplyReader::fail(Fault kind, std::string_view data, std::size_t at) noexcept {
  broken_ = true;
  fault_ = {kind, static_cast<std::uint8_t>(data[at]), passed_bytes_ + at};
  return Step::broken;
}

// ---- skipping

// The value that begins here makes the reply exceed a limit. `type` is its type; `too_large` if it
// is an attribute of the reply.
ReplyReader::Step ReplyReader::exceed(Fault kind, std::string_view data, Type type) noexcept {
  const bool in_attribute = !open_.empty() && open_.front().attribute;
  passed_type_ = type;
  if (!open_.empty()) passed_type_ = elements_[open_.front().element].type;
  if (passed_type_ == Type::push) return fail(kind, data, at_);
  if (in_attribute || passed_type_ == Type::too_large) passed_type_.reset();
  fault_ = {kind, static_cast<std::uint8_t>(data[at_]), at_};
  left_ = 1;
  for (const Open& aggregate : open_) {
    left_ += aggregate.left;
    if (!aggregate.attribute) --left_;  // the aggregate itself was counted, too
  }
  passes_over_ = true;
  open_.clear();
  forget_elements();
  searched_ = 0;
  size_ = at_;
  return Step::pass_over;
}

ReplyReader::Progress ReplyReader::pass_over(std::size_t size) noexcept {
  passed_bytes_ += size;
  size_ = size;
  at_ = searched_ = 0;
  return Progress::pass_over;
}

// Values that may still come.
std::uint64_t ReplyReader::most_passed_over() const noexcept {
  return limits_.passed_over / shortest_value;
}

// Bytes that may still come.
std::uint64_t ReplyReader::room() const noexcept {
  return limits_.passed_over - std::min(limits_.passed_over, passed_bytes_);
}

// The caller has skipped the bytes before `data`.
ReplyReader::Step ReplyReader::pass_rest(std::string_view data) {
  return rest_ == Rest::of_line ? pass_line(data) : pass_text_end(data, 0);
}

// Skips a line of any length.
ReplyReader::Step ReplyReader::pass_line(std::string_view data) {
  const std::size_t begin = rest_ == Rest::of_line ? 0 : at_ + 1;
  const std::string_view searchable = data.substr(0, room());
  const std::size_t end = searchable.find_first_of(line_end, begin);
  if (end == data.npos || (data[end] == '\r' && end + 1 == searchable.size())) {
    if (searchable.size() < data.size()) return fail(Fault::reply_too_long, data, room());
    size_ = std::min(end, data.size());
    if (size_ == 0) return Step::need_input;
    rest_ = Rest::of_line;
    return Step::pass_over;
  }
  if (!data.substr(end).starts_with(line_end)) return fail(Fault::bad_line_end, data, end);
  rest_ = Rest::none;
  return add(Type::too_large, 0, 0, end + line_end.size());
}

// Skips a text that begins at `begin`; it may not be complete yet.
ReplyReader::Step ReplyReader::pass_text(std::string_view data, std::size_t begin,
                                         std::uint64_t size) {
  const std::uint64_t end = begin + size;
  if (end + line_end.size() > room()) return fail(Fault::reply_too_long, data, at_);
  if (end + line_end.size() <= data.size()) return pass_text_end(data, end);
  size_ = end;
  rest_ = Rest::end_of_text;
  return Step::pass_over;
}

ReplyReader::Step ReplyReader::pass_text_end(std::string_view data, std::size_t at) {
  for (std::size_t i = 0; i < line_end.size(); ++i) {
    if (data.size() <= at + i) return Step::need_input;
    if (data[at + i] != line_end[i]) return fail(Fault::bad_line_end, data, at + i);
  }
  rest_ = Rest::none;
  return add(Type::too_large, 0, 0, at + line_end.size());
}

ReplyReader::Step ReplyReader::pass_aggregate(std::string_view data, std::uint64_t count,
                                              bool attribute, std::size_t end) {
  left_ += count;
  if (left_ > most_passed_over()) return fail(Fault::too_many_elements, data, at_);
  add(Type::too_large, 0, 0, end);
  return attribute ? Step::opened : Step::value;  // an attribute is not one of the values to come
}

}  // namespace sheaf::protocol::resp
