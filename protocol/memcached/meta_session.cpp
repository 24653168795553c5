// MetaSession: from received bytes to replies, and what each line does.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/meta_session.h"

#include "base/text.h"

namespace sheaf::protocol::memcached {
namespace {

using protocol::Reply;
using Code = ReplyLine::Code;

Reason reason_of_server_error(std::string_view text) noexcept {
  if (text.starts_with("object too large")) return Reason::too_large;
  if (text.starts_with("out of memory")) return Reason::quota;
  return Reason::other;
}

std::string_view name_of(Code code) noexcept {
  if (code == Code::client_error) return "CLIENT_ERROR ";
  return code == Code::server_error ? "SERVER_ERROR " : "ERROR ";
}

std::string sentence(std::string_view start, const ReplyLine& line) {
  std::string all(start);
  return all.append(" (").append(name_of(line.code)).append(printable(line.text, 128)).append(")");
}

// What a code without a value means for what was asked; nothing if it cannot be the answer.
std::optional<Status> result_of(const Pending& request, Code code) noexcept {
  const bool conditional =
      request.question == Question::store || request.question == Question::remove;
  switch (code) {
    case Code::ok:
      if (request.question == Question::touch || request.question == Question::append) {
        return Status::done;
      }
      if (conditional) return Status::done;
      break;
    case Code::miss:
      if (request.question == Question::get || request.question == Question::touch) {
        return Status::absent;
      }
      break;
    case Code::not_found:
      if (request.question == Question::store || request.question == Question::append) {
        return request.by_version ? Status::absent : Status::not_stored;
      }
      if (conditional || request.question == Question::arithmetic) return Status::absent;
      break;
    case Code::not_stored:
      if (request.question == Question::store || request.question == Question::append) {
        return Status::not_stored;
      }
      break;
    case Code::exists:
      if (conditional) return Status::not_stored;
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace

MetaSession::Step MetaSession::next_step(Event& event) {
  if (skip_ > 0) return skip_bytes();
  if (skip_line_end_) return skip_line_end();
  Pending* const request = queue_.due();
  const bool many = request != nullptr && request->question == Question::many;
  const bool listed = many && request->at > 0;  // the first key is answered
  if (listed && request->keys.size() == 1) return answer(*request, {}, event);
  const auto text = first_line(input_.data());
  if (!text) return text.error();
  const std::size_t size = text->size() + line_end.size();
  if (listed) return on_list(*request, *text, size, event);
  const auto line = ReplyLine::parse(*text);
  if (!line || line->code == Code::other) return broken("the line \"" + printable(*text) + "\"");
  return on_line(request, *line, size, event);
}

// The line that the data begins with, without its end. Else what to do instead.
std::expected<std::string_view, MetaSession::Step> MetaSession::first_line(std::string_view data) {
  const std::size_t end = data.substr(0, max_reply_line).find('\n');
  if (end == std::string_view::npos) {
    return std::unexpected(data.size() < max_reply_line ? Step::need_input
                                                        : broken("a line above 8 KiB"));
  }
  if (end == 0 || data[end - 1] != '\r') {
    return std::unexpected(broken("a line that ends without CR"));
  }
  return data.substr(0, end - 1);
}

MetaSession::Step MetaSession::on_line(Pending* request, const ReplyLine& line, std::size_t size,
                                       Event& event) {
  if (line.code == Code::error && line.text.starts_with("Too many open connections")) {
    return end_with(is(State::ready) ? Reason::connection_lost : Reason::connect_failed,
                    "the server has too many open connections");
  }
  const bool many = request != nullptr && request->question == Question::many;
  if (many && !line.is_error()) return on_first_of_many(*request, line, size, event);
  if (line.code != Code::value) input_.consumed(size);
  if (is(State::greeting)) return on_greeting(line, event);
  if (line.is_error()) return on_error(request, line, event);
  if (request == nullptr) return broken("a reply to nothing that was asked");
  const bool two_lines = request->question == Question::stats;  // with the no-op in front
  if (!may_answer(*request, two_lines && request->at == 0)) return Step::again;
  switch (line.code) {
    case Code::value:
      return on_value(*request, line, size, event);
    case Code::ok:
    case Code::miss:
    case Code::not_found:
    case Code::not_stored:
    case Code::exists:
      return on_result(*request, line, event);
    default:
      return on_text(*request, line, event);
  }
}

// ---- greeting

MetaSession::Step MetaSession::on_greeting(const ReplyLine& line, Event& event) {
  Pending* const request = queue_.due();
  if (request == nullptr || output_.progress(request->frame) != OutputQueue::Progress::written) {
    return broken("a reply to nothing that was asked");
  }
  const Question question = request->question;
  queue_.finish(*request);
  if (line.is_error()) return on_refused_greeting(question, line);
  if (question == Question::version && line.code == Code::version) {
    return on_version(line.text, event);
  }
  if (question == Question::login && line.code == Code::stored) {
    logged_in_ = true;
    greet();
    return Step::again;
  }
  return broken("an answer to the greeting that is none");
}

MetaSession::Step MetaSession::on_version(std::string_view text, Event& event) {
  learn_version(text);
  if (options().only_version) return become_ready(event);
  if (has_credentials() && !logged_in_) {
    return end_with(Reason::authentication,
                    "the server wants no log-in in text (-Y is off), but a user name is configured",
                    true);
  }
  if (server_version().value_or(ServerVersion{}) < meta_since) {
    return end_with(Reason::connect_failed,
                    "the server is version " + printable(text, 32) +
                        "; the meta protocol needs memcached 1.6.10",
                    true);
  }
  return become_ready(event);
}

MetaSession::Step MetaSession::on_refused_greeting(Question question, const ReplyLine& line) {
  if (question == Question::login) {
    return end_with(Reason::authentication, sentence("the server refused the log-in", line), true);
  }
  const bool wants_login =
      line.code == Code::client_error && line.text.starts_with("unauthenticated");
  if (!wants_login) {
    return end_with(Reason::connect_failed, sentence("the server does not tell its version", line));
  }
  learn_dialect(Dialect::text_and_log_in);
  if (!has_credentials() || options().only_version) {
    return end_with(Reason::authentication, "the server wants a user name and a password", true);
  }
  if (logged_in_) return broken("a log-in that was accepted and forgotten");
  write_login();
  return Step::again;
}

// ---- replies

MetaSession::Step MetaSession::on_error(Pending* request, const ReplyLine& line, Event& event) {
  const bool not_a_number = line.code == Code::client_error && request != nullptr &&
                            request->question == Question::arithmetic &&
                            line.text.starts_with("cannot increment or decrement");
  if (line.code != Code::server_error && !not_a_number) {
    return end_with(Reason::protocol_error, sentence("the server did not understand us", line));
  }
  if (request == nullptr) return broken(sentence("an error about nothing that was asked", line));
  if (request->question == Question::many) return broken(sentence("an error in a list", line));
  if (!may_answer(*request, true)) return Step::again;
  const Reason reason = not_a_number ? Reason::wrong_type : reason_of_server_error(line.text);
  return refuse(*request, reason, line.text, event);
}

// Every reply has it, but misses of older servers.
bool MetaSession::has_its_opaque(const Pending& request, const ReplyLine& line) const {
  if (line.opaque) return *line.opaque == request.opaque;
  return line.code == Code::miss && *server_version() < misses_tell_opaque_since;
}

MetaSession::Step MetaSession::on_value(Pending& request, const ReplyLine& line, std::size_t size,
                                        Event& event) {
  const bool reads = request.question == Question::get;
  if (!reads && request.question != Question::arithmetic) {
    return broken("a value that was not asked for");
  }
  if (!has_its_opaque(request, line)) return broken("a reply with the opaque of another request");
  if (!reads && line.size > 32) return broken("a value longer than any expected");
  const auto value = take_value(line.size, size);
  if (!value) return value.error();
  if (!*value) return answer(request, too_large_reply(), event);
  if (!reads) return on_number(request, line, **value, event);
  Reply reply;
  if (!read_get(line, **value, reply)) return broken("a value without what was asked for");
  return answer(request, reply, event);
}

// The value behind a line of `line` bytes, nothing if it is larger than we take; the line is taken
// off the input, and the value, too. Else what to do instead.
std::expected<std::optional<std::string_view>, MetaSession::Step> MetaSession::take_value(
    std::size_t value, std::size_t line) {
  if (value > max_value_size) return std::unexpected(broken("a value longer than any expected"));
  if (value > options().value_limit) {
    input_.consumed(line);
    skip_ = value;
    skip_line_end_ = true;
    return std::nullopt;
  }
  const std::string_view data = input_.data();
  const std::size_t whole = line + value + line_end.size();
  if (data.size() < whole) return std::unexpected(Step::need_input);
  if (!data.substr(line + value).starts_with(line_end)) {
    return std::unexpected(broken("a value that is longer than announced"));
  }
  input_.consumed(whole);
  return data.substr(line, value);
}

// False if the server did not say all that mg asks for.
bool MetaSession::read_get(const ReplyLine& line, std::string_view value, Reply& reply) {
  if (!line.flags || !line.cas || (line.won && line.taken)) return false;
  reply.lease = line.won ? Lease::won : line.taken ? Lease::taken : Lease::none;
  reply.version = version_text(*line.cas);
  if (value.empty() && reply.lease != Lease::none) {  // the stub that holds the lease
    reply.status = Status::absent;
  } else {
    reply.value = value;
    reply.flags = *line.flags;
    reply.stale = line.stale;
  }
  return true;
}

MetaSession::Step MetaSession::on_number(Pending& request, const ReplyLine& line,
                                         std::string_view value, Event& event) {
  Reply reply;
  reply.number = parse_decimal(value.substr(0, value.find_last_not_of(' ') + 1));
  if (!reply.number) return broken("a number that is none");
  reply.version = version_text(line.cas.value_or(0));
  return answer(request, reply, event);
}

MetaSession::Step MetaSession::on_result(Pending& request, const ReplyLine& line, Event& event) {
  const auto status = result_of(request, line.code);
  if (!status) return broken("a reply of another kind than was asked for");
  if (!has_its_opaque(request, line)) return broken("a reply with the opaque of another request");
  Reply reply;
  reply.status = *status;
  const bool stored = request.question == Question::store || request.question == Question::append;
  const bool tells = !stored || *server_version() >= store_tells_cas_since;
  if (*status == Status::done && tells) {
    reply.version = version_text(line.cas.value_or(0));
    reply.flags = line.flags.value_or(0);
  }
  return answer(request, reply, event);
}

// What has no opaque: replies of mn, version and stats.
MetaSession::Step MetaSession::on_text(Pending& request, const ReplyLine& line, Event& event) {
  switch (request.question) {
    case Question::probe:
      if (line.code == Code::no_op && !line.opaque) return answer(request, {}, event);
      break;
    case Question::version:
      if (line.code == Code::version) {
        Reply reply;
        reply.value = line.text;
        return answer(request, reply, event);
      }
      break;
    case Question::stats:
      if (request.at == 0 && line.code == Code::no_op && !line.opaque) {
        request.at = 1;
        return Step::again;
      }
      if (request.at == 0) break;
      if (line.code == Code::end) return end_stats(request, event);
      if (line.code == Code::stat) {
        const std::size_t blank = std::min(line.text.find(' '), line.text.size());
        const std::size_t rest = std::min(blank + 1, line.text.size());
        return add_stat(request, line.text.substr(0, blank), line.text.substr(rest));
      }
      break;
    default:
      break;
  }
  return broken("a reply of another kind than was asked for");
}

MetaSession::Step MetaSession::skip_line_end() {
  const std::string_view data = input_.data();
  if (data.size() < line_end.size()) return Step::need_input;
  if (!data.starts_with(line_end)) return broken("a value that is longer than announced");
  input_.consumed(line_end.size());
  skip_line_end_ = false;
  return Step::again;
}

}  // namespace sheaf::protocol::memcached
