// MetaSession: gets that are asked in one burst, as one line.
//
// A server answers at most twenty commands (its `-R`) before it writes, and reads a line of many
// keys at half the cost of as many lines of one: a burst of gets goes as
//
//   mg KEY v f c O<opaque>       the first key, whose reply proves where in the stream we are
//   gets KEY KEY ...             the others
//
// The server answers the list with the values of the keys that it has, in the order asked, each
// under its key, then END. A key that is passed over is a miss; a value of any other key ends the
// connection.

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "protocol/memcached/meta_session.h"

namespace sheaf::protocol::memcached {
namespace {

using protocol::Reply;
using Code = ReplyLine::Code;

// Shorter bursts go as lines of their own, each with its opaque.
constexpr std::size_t kShortestList = 6;
// Of one list. The server takes a line above 2 KiB by a way of its own, which costs it an
// allocation.
constexpr std::size_t kLongestList = 2'000;
constexpr std::size_t kKeptKeys = 64 * 1024;
constexpr char kListEnd = '\n';

}  // namespace

// ---- from operations to lines

Ticket MetaSession::gather_get(std::string_view key) {
  if (gathered_keys_.size() + key.size() + 1 > kLongestList) close_batch();
  if (gathered_keys_.capacity() < kLongestList) {
    gathered_.reserve(kLongestList / 2);
    gathered_keys_.reserve(kLongestList);
  }
  queue_.reserve(1);
  const Pending& request = queue_.add(Question::get, true);
  gathered_.push_back({request.sequence, key.size()});
  gathered_keys_.append(key).append(1, ' ');
  return request.ticket;
}

// Spells the gets that were gathered. Without memory some of them stay gathered.
void MetaSession::close_batch() {
  if (gathered_.empty()) return;
  drop_spelled();
  const bool list = gathered_.size() >= kShortestList;
  std::size_t at = 0;
  for (const Gathered& one : std::span(gathered_).first(list ? 1 : gathered_.size())) {
    spell_get(*queue_.find(one.sequence), std::string_view(gathered_keys_).substr(at, one.size));
    at += one.size + 1;
  }
  if (list)
    spell_list(std::span(gathered_).subspan(1), std::string_view(gathered_keys_).substr(at));
  gathered_.clear();
  gathered_keys_.clear();
}

// Takes out what was cancelled, or was spelled before memory ended.
void MetaSession::drop_spelled() noexcept {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t kept = 0;
  for (const Gathered one : gathered_) {
    const Pending* const request = queue_.find(one.sequence);
    if (request != nullptr && request->frame == 0) {
      if (from != to) std::copy_n(&gathered_keys_[from], one.size + 1, &gathered_keys_[to]);
      to += one.size + 1;
      gathered_[kept++] = one;
    }
    from += one.size + 1;
  }
  gathered_.resize(kept);
  gathered_keys_.resize(to);
}

void MetaSession::spell_get(Pending& request, std::string_view key) {
  output_.reserve(max_request_line);
  ByteWriter out(output_.buffer());
  MetaGet{.key = key, .opaque = request.sequence}.encode(out);
  put_frame(request);
}

// `keys`: each with a blank behind it.
void MetaSession::spell_list(std::span<const Gathered> gets, std::string_view keys) {
  reserve(1, kLongestList + max_request_line);
  list_keys_.reserve(list_keys_.size() + kLongestList + max_request_line);
  list_keys_.append(keys).append(1, kListEnd);
  output_.buffer().append("gets ").append(keys.substr(0, keys.size() - 1)).append(line_end);
  Pending& end = queue_.add(Question::list_end, false);
  put_frame(end);
  for (const Gathered& one : gets) {
    Pending& request = *queue_.find(one.sequence);
    request.listed = true;
    request.frame = end.frame;
  }
}

// ---- from lines to replies

// True if the next reply is to a list, or to what is left of it.
bool MetaSession::in_list() noexcept {
  const Pending* const request = queue_.due();
  return request != nullptr && (request->listed || request->question == Question::list_end);
}

// A line while the oldest request is a key of a list, or its end.
MetaSession::Step MetaSession::on_list(Pending& request, const ReplyLine& line, std::size_t size,
                                       Event& event) {
  if (!may_answer(request, false)) return Step::again;
  const bool over = request.question == Question::list_end;
  if (line.code == Code::end) {
    if (!over) return on_list_miss(request, event);
    input_.consumed(size);
    pass_list_end();
    queue_.finish(request);
    return Step::again;
  }
  if (line.code != Code::listed) return broken("neither value nor end in a list of gets");
  const auto head = ListedHead::parse(line.text);
  if (!head) return broken("the line \"" + printable(line.text) + "\" in a list of gets");
  if (over || !find_listed(head->key)) return broken("the value of a key that was not asked for");
  if (list_at_ < listed_at_) return on_list_miss(request, event);
  return on_listed(request, *head, size, event);
}

MetaSession::Step MetaSession::on_list_miss(Pending& request, Event& event) {
  pass_listed();
  if (request.state != Pending::State::waiting) {  // cancelled, and nothing came that could be late
    queue_.finish(request);
    return Step::again;
  }
  Reply reply;
  reply.status = Status::absent;
  return answer(request, reply, event);
}

MetaSession::Step MetaSession::on_listed(Pending& request, const ListedHead& head, std::size_t size,
                                         Event& event) {
  if (head.size > max_value_size) return broken("a value longer than any expected");
  if (head.size > options().value_limit) return skip_value(request, head.size, size, event);
  const std::string_view data = input_.data();
  const std::size_t whole = size + head.size + line_end.size();
  if (data.size() < whole) return Step::need_input;
  if (!data.substr(size + head.size).starts_with(line_end)) {
    return broken("a value that is longer than announced");
  }
  if (head.size == 0 && request.state == Pending::State::waiting) {
    ask_again(request, head.key);
    input_.consumed(whole);
    return Step::again;
  }
  input_.consumed(whole);
  pass_listed();
  Reply reply;
  reply.value = data.substr(size, head.size);
  reply.flags = head.flags;
  reply.version = version_text(head.cas);
  return answer(request, reply, event);
}

// An empty value may be the stub that holds somebody's lease: only mg tells.
void MetaSession::ask_again(Pending& request, std::string_view key) {
  const std::uint32_t sequence = request.sequence;
  close_batch();
  reserve(1, max_request_line);
  spell_get(queue_.again(*queue_.find(sequence)), key);
  pass_listed();
}

// ---- the keys of lists that are out: "KEY KEY \nKEY KEY \n", read from list_at_

// True if the key is one of those that are left of this list; listed_at_ is where, then.
bool MetaSession::find_listed(std::string_view key) noexcept {
  if (listed_at_ != kNowhere) return true;  // the same line as before
  const std::string_view keys = std::string_view(list_keys_).substr(list_at_);
  if (keys.size() > key.size() && keys[key.size()] == ' ' && keys.starts_with(key)) {
    listed_at_ = list_at_;
    return true;
  }
  for (std::size_t at = 0; at < keys.size() && keys[at] != kListEnd;) {
    const std::size_t end = keys.find(' ', at);
    if (keys.substr(at, end - at) == key) {
      listed_at_ = list_at_ + at;
      return true;
    }
    at = end + 1;
  }
  return false;
}

// Behind the oldest key.
void MetaSession::pass_listed() noexcept {
  if (listed_at_ == list_at_) listed_at_ = kNowhere;
  list_at_ = list_keys_.find(' ', list_at_) + 1;
}

void MetaSession::pass_list_end() noexcept {
  listed_at_ = kNowhere;
  ++list_at_;
  if (list_at_ < list_keys_.size() && list_at_ < kKeptKeys) return;
  list_keys_.erase(0, list_at_);
  list_at_ = 0;
}

}  // namespace sheaf::protocol::memcached
