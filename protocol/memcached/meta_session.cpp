// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/meta_session.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "protocol/memcached/meta_replies.h"

namespace sheaf::protocol::memcached {

using protocol::Reply;
namespace {

using Code = ReplyLine::Code;

}  // namespace

void MetaSession::greet() {
  if (auto text = bad_meta_login(take_login())) {
    return life().end({Reason::bad_configuration, std::move(*text), true});
  }
  writer_.write_version();
}

Step MetaSession::next_reply(Event& event) {
  if (const auto ended = input_.end_skipped(); !ended) return ended.error();
  Pending* const request = requests().due();
  const bool many = request != nullptr && request->question == Question::many;
  const bool first_is_answered = many && request->at > 0;
  if (first_is_answered) return list_reader_.next(*request, event);
  const auto text = input_.line();
  if (!text) return text.error();
  const auto line = ReplyLine::parse(*text);
  if (!line || line->code == Code::other) return broken("the line \"" + printable(*text) + "\"");
  return on_line(request, *line, text->size() + line_end.size(), event);
}

Step MetaSession::on_line(Pending* request, const ReplyLine& line, std::size_t size, Event& event) {
  if (line.code == Code::error && line.text.starts_with("Too many open connections")) {
    return life().end_with(ready() ? Reason::connection_lost : Reason::connect_failed,
                           "the server has too many open connections");
  }
  const bool many = request != nullptr && request->question == Question::many;
  if (many && !line.is_error()) return list_reader_.on_first(*request, line, size, event);
  if (line.code != Code::value) input_.consumed(size);
  if (!ready()) return on_greeting(line, event);
  if (line.is_error()) return on_error(request, line, event);
  if (request == nullptr) return broken("a reply without a request");
  const bool two_lines = request->question == Question::stats;  // the no-op goes before it
  if (!answers().may_come(*request, two_lines && request->at == 0)) return Step::again;
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

Step MetaSession::on_greeting(const ReplyLine& line, Event& event) {
  Pending* const request = requests().due();
  if (request == nullptr || !life().has_left(request->frame)) {
    return broken("a reply without a request");
  }
  const Question question = request->question;
  requests().finish(*request);
  if (line.is_error()) return on_refused_greeting(question, line);
  if (question == Question::version && line.code == Code::version) {
    return on_version(line.text, event);
  }
  if (question == Question::login && line.code == Code::stored) {
    logged_in_ = true;
    writer_.write_version();
    return Step::again;
  }
  return broken("a reply that does not answer the greeting");
}

Step MetaSession::on_version(std::string_view text, Event& event) {
  learn_version(text);
  if (options().only_version) return life().become_ready(event);
  if (has_credentials() && !logged_in_) {
    return refuse_login(
        "the server takes no log-in in text (-Y is off), but a user name is configured");
  }
  if (!server().at_least(meta_since)) {
    return life().end_with(Reason::connect_failed,
                           "the server is version " + printable(text, 32) +
                               "; the meta protocol needs memcached 1.6.10",
                           true);
  }
  return life().become_ready(event);
}

Step MetaSession::on_refused_greeting(Question question, const ReplyLine& line) {
  if (question == Question::login) {
    const std::string words = without_secrets(line.text, login());
    ReplyLine shown = line;
    shown.text = words;
    std::string why = sentence("the server refused the log-in", shown);
    // It says nothing about the login: it cannot serve anybody now.
    const bool about_now = line.code == Code::server_error;
    if (about_now) return life().end_with(Reason::connect_failed, std::move(why));
    return refuse_login(std::move(why));
  }
  const bool wants_login =
      line.code == Code::client_error && line.text.starts_with("unauthenticated");
  if (!wants_login) {
    return life().end_with(Reason::connect_failed,
                           sentence("the server does not report its version", line));
  }
  learn_dialect(Dialect::text_and_log_in);
  if (!has_credentials() || options().only_version) {
    return refuse_login("the server requires a user name and a password");
  }
  if (logged_in_) return broken("a log-in that the server accepted and then forgot");
  writer_.write_login(*login());
  return Step::again;
}

// ---- replies

Step MetaSession::on_error(Pending* request, const ReplyLine& line, Event& event) {
  const bool not_a_number = line.code == Code::client_error && request != nullptr &&
                            request->question == Question::arithmetic &&
                            line.text.starts_with("cannot increment or decrement");
  if (line.code != Code::server_error && !not_a_number) {
    return life().end_with(Reason::protocol_error,
                           sentence("the server did not understand the request", line));
  }
  if (request == nullptr) return broken(sentence("an error without a request", line));
  if (request->question == Question::many) return broken(sentence("an error in a list", line));
  if (!answers().may_come(*request, true)) return Step::again;
  if (request->question == Question::probe) return answers().answer(*request, {}, event);
  const Reason reason = not_a_number ? Reason::wrong_type : reason_of_server_error(line.text);
  return answers().refuse(*request, reason, line.text, event);
}

Step MetaSession::on_value(Pending& request, const ReplyLine& line, std::size_t size,
                           Event& event) {
  const bool reads = request.question == Question::get;
  if (!reads && request.question != Question::arithmetic) {
    return broken("a value that was not requested");
  }
  if (!has_its_opaque(request, line, server()))
    return broken("a reply with the opaque of another request");
  if (!reads && line.size > 32) return broken("a value longer than any expected");
  const auto value = input_.value(line.size, size);
  if (!value) return value.error();
  if (!*value) return answers().answer(request, Answers::above_value_limit(), event);
  if (!reads) return on_number(request, line, **value, event);
  Reply reply;
  if (line.tells_ttl < request.ttl_left || !read_get(line, **value, answers(), reply))
    return broken("a value that lacks a requested field");
  return answers().answer(request, reply, event);
}

Step MetaSession::on_number(Pending& request, const ReplyLine& line, std::string_view value,
                            Event& event) {
  Reply reply;
  reply.number = parse_decimal(value.substr(0, value.find_last_not_of(' ') + 1));
  if (!reply.number) return broken("a malformed number");
  reply.version = answers().version_text(line.cas.value_or(0));
  return answers().answer(request, reply, event);
}

Step MetaSession::on_result(Pending& request, const ReplyLine& line, Event& event) {
  const auto status = result_of(request, line.code);
  if (!status) return broken("a reply of an unexpected kind");
  if (!has_its_opaque(request, line, server()))
    return broken("a reply with the opaque of another request");
  Reply reply;
  reply.status = *status;
  const bool stored = request.question == Question::store || request.question == Question::append;
  const bool has_version = !stored || server().at_least(stores_return_cas_since);
  if (*status == Status::done && has_version) {
    reply.version = answers().version_text(line.cas.value_or(0));
    reply.flags = line.flags.value_or(0);
  }
  return answers().answer(request, reply, event);
}

// Handles replies without an opaque: those to mn, version and stats.
Step MetaSession::on_text(Pending& request, const ReplyLine& line, Event& event) {
  if (request.question == Question::stats) return on_stats(request, line, event);
  if (request.question == Question::probe && line.code == Code::no_op && !line.opaque) {
    return answers().answer(request, {}, event);
  }
  if (request.question == Question::version && line.code == Code::version) {
    Reply reply;
    reply.value = line.text;
    return answers().answer(request, reply, event);
  }
  return broken("a reply of an unexpected kind");
}

// Handles the answer to the no-op before `stats`, then the statistics, then END.
Step MetaSession::on_stats(Pending& request, const ReplyLine& line, Event& event) {
  const bool begun = request.at > 0;
  if (!begun && line.code == Code::no_op && !line.opaque) {
    request.at = 1;
    return Step::again;
  }
  if (begun && line.code == Code::end) return answers().end_stats(request, event);
  if (begun && line.code == Code::stat) {
    const std::size_t blank = std::min(line.text.find(' '), line.text.size());
    const std::size_t rest = std::min(blank + 1, line.text.size());
    return answers().add_stat(request, line.text.substr(0, blank), line.text.substr(rest));
  }
  return broken("a reply of an unexpected kind");
}

}  // namespace sheaf::protocol::memcached
