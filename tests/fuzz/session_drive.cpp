#include "tests/fuzz/session_drive.h"

#include <array>

#include "tests/support/logins.h"

namespace sheaf::fuzz {

using protocol::Condition;
using protocol::Event;
using protocol::Operation;
using protocol::Verb;

namespace {

// The sizes that a script can name: each one up to 199, then steps of 64.
std::size_t size_of(std::uint8_t argument) {
  if (argument == SessionDrive::all) return static_cast<std::size_t>(-1);
  return argument < 200 ? argument : 200 + (argument - std::size_t{200}) * 64;
}

// The condition that a variant of an operation has, if its verb takes one.
Condition condition_of(Verb verb, unsigned variant) {
  constexpr std::array of_set{Condition::none, Condition::if_absent, Condition::if_present,
                              Condition::if_version, Condition::if_absent_or_equal};
  constexpr std::array of_remove{Condition::none, Condition::if_version, Condition::if_value};
  if (verb == Verb::get_and_set) return of_set[variant / 4 % 3];
  if (verb == Verb::set) return of_set[variant / 4 % of_set.size()];
  return verb == Verb::remove ? of_remove[variant / 4 % of_remove.size()] : Condition::none;
}

// Operations, most of which sessions accept. Variant 0 of each is the plainest.
Operation operation_of(Verb verb, unsigned variant, const SessionDrive::Request& request, Now now) {
  Operation operation;
  operation.verb = verb;
  operation.condition = condition_of(verb, variant);
  operation.deadline = now.mono + std::chrono::seconds(3);
  if (verb != Verb::stats && verb != Verb::server_version) operation.key = request.key;
  if (verb == Verb::get_many || verb == Verb::set_many) operation.keys = request.keys;
  if (verb == Verb::set_many) operation.values = request.keys;
  if (verb == Verb::command && variant % 2 == 1) operation.words = request.keys;
  if (verb == Verb::command && variant % 2 == 0) {
    operation.keys = request.keys;
    operation.commands = request.commands;
  }
  const bool stores = verb == Verb::set || verb == Verb::get_and_set;
  const bool writes = stores || verb == Verb::append || verb == Verb::prepend;
  if (writes || operation.condition == Condition::if_value) operation.value = request.value;
  if (stores) operation.ttl = std::chrono::milliseconds(700 * (variant % 5));
  if (verb == Verb::touch || verb == Verb::get_and_touch || verb == Verb::lease) {
    operation.ttl = std::chrono::milliseconds(700 * (variant + 1));
  }
  const bool counts = verb == Verb::increment || verb == Verb::decrement;
  if (counts && variant % 2 == 1) operation.initial = variant;
  if (variant % 8 == 5) operation.fence = "001700000000000:00001:fence";
  operation.asking = variant % 8 == 6;
  return operation;
}

}  // namespace

void SessionDrive::play(std::string_view bytes) {
  Input input(bytes);
  const std::size_t steps = input.u8();
  Input script(input.text(2 * steps));
  Input server(input.rest());
  session_.start(now_);
  poll();
  while (!script.done()) {
    const auto action = static_cast<Action>(script.u8() % 8);
    step(action, script.u8(), server);
    poll();
  }
  feed(server.rest());
  take_output(static_cast<std::size_t>(-1));
  if (!session_.closed()) session_.on_eof(now_);
  poll();
  expect(over_ && session_.closed(), "a session whose stream has ended is closed");
  expect(open_.empty(), "every request got its last event");
  take_output(static_cast<std::size_t>(-1));  // the rest may be written after the end
}

void SessionDrive::step(Action action, std::uint8_t argument, Input& server) {
  switch (action) {
    case Action::feed:
      return feed(server.text(size_of(argument)));
    case Action::submit:
      return submit(argument);
    case Action::take_output:
      return take_output(size_of(argument));
    case Action::answer: {
      const std::string_view text = server.text(server.u8());
      return feed(answer(argument, text));
    }
    case Action::cancel:
      return cancel(argument);
    case Action::pass_time:
      return pass_time(argument);
    case Action::end:
      if (argument % 2 == 0) return session_.close(now_);
      if (!session_.closed()) session_.on_eof(now_);
      return;
    case Action::renew:
      return renew(argument);
  }
}

void SessionDrive::renew(std::uint8_t argument) {
  const unsigned login = argument % 5;
  const std::string_view words[] = {"one", "two"};
  slot_->present = login < 2   ? test::token_login("K8S-SAT", words[login])
                   : login < 4 ? protocol::make_login("ann", words[login - 2])
                               : nullptr;
  const bool was_over = session_.closed();
  const bool goes_on = session_.renew_login(now_);
  expect(goes_on || !was_over, "a session that has ended has nothing to be replaced");
  transcript_ += goes_on ? "renewed\n" : "cannot renew\n";
}

// Only both ends of a long text are given in single bytes.
std::size_t SessionDrive::piece_of(std::size_t given, std::size_t left) const {
  constexpr std::size_t ends = 2'000;
  return given < ends || left <= ends ? piece_ : std::max(piece_, left - ends);
}

void SessionDrive::feed(std::string_view bytes) {
  std::size_t given = 0;
  while (!bytes.empty() && !session_.closed()) {
    const std::span<std::byte> space = session_.input_space();
    const std::size_t size = std::min({bytes.size(), space.size(), piece_of(given, bytes.size())});
    if (size == 0) return;
    given += size;
    std::copy_n(as_bytes(bytes).begin(), size, space.begin());
    bytes.remove_prefix(size);
    session_.on_input(size, now_);
    poll();
  }
}

void SessionDrive::submit(std::uint8_t argument) {
  if (session_.room() == 0) return;
  const unsigned variant = argument / verbs;
  auto request = std::make_unique<Request>();
  request->key = "k" + std::to_string(variant % 3);
  request->value = std::string(variant % 4 == 3 ? 20'000 : variant, 'v');  // long ones are borrowed
  for (unsigned i = 1; i <= 7; ++i) request->names.push_back("k" + std::to_string(i));
  request->keys.assign(request->names.begin(), request->names.end());
  request->keys.resize(1 + variant % 7);
  for (const std::string_view& key : request->keys) request->commands.push_back({&key, 1});
  Operation operation = operation_of(static_cast<Verb>(argument % verbs), variant, *request, now_);
  if (operation.condition == Condition::if_version) operation.version = version();
  const auto ticket = session_.submit(operation, now_);
  if (!ticket) return expect(!ticket.error().text.empty(), "a refusal says why");
  const Name name{ticket->slot, ticket->generation};
  expect(open_.emplace(name, std::move(request)).second, "a ticket names one request");
}

void SessionDrive::take_output(std::size_t most) {
  while (most > 0) {
    std::string written;
    for (const Bytes part : session_.poll_output()) written += as_text(part);
    written.resize(std::min(written.size(), most));
    if (written.empty()) return;
    session_.on_output(written.size(), now_);
    most -= written.size();
    transcript_ += "wrote " + std::to_string(written.size()) + '\n';
    on_written(written);
  }
}

void SessionDrive::cancel(std::uint8_t argument) {
  if (open_.empty()) return;
  const auto victim = std::next(open_.begin(), argument % static_cast<int>(open_.size()));
  session_.cancel({victim->first.first, victim->first.second}, now_);
  open_.erase(victim);
}

void SessionDrive::pass_time(std::uint8_t argument) {
  const auto time = std::chrono::milliseconds(1 << argument % 14);
  now_.mono += time;
  now_.wall += argument >= 128 ? -time : time;
  for (int turns = 0; !session_.closed(); ++turns) {
    const auto deadline = session_.poll_deadline();
    if (!deadline || *deadline > now_.mono) return;
    expect(turns < 10, "a deadline that was handled is over");
    session_.on_deadline(now_);
    poll();
  }
}

void SessionDrive::poll() {
  Event event;
  while (session_.poll_event(event)) {
    note(event);
    check(event);
  }
  expect(session_.in_flight() == open_.size(), "in_flight() counts the open requests");
  expect(session_.closed() || session_.room() == 0 || ready_, "room comes with the event ready");
}

void SessionDrive::check(const Event& event) {
  expect(!over_, "nothing comes after the end");
  switch (event.kind) {
    case Event::Kind::ready:
      expect(!ready_, "a session is ready once");
      ready_ = true;
      return;
    case Event::Kind::notification:
      return expect(ready_, "notifications come when the session is ready");
    case Event::Kind::closed:
      over_ = true;
      return expect(open_.empty(), "requests end before the session");
    case Event::Kind::item:
    case Event::Kind::reply:
    case Event::Kind::failed:
      break;
  }
  const auto found = open_.find({event.ticket.slot, event.ticket.generation});
  expect(found != open_.end(), "an event is about an open request");
  if (event.kind != Event::Kind::item) {
    open_.erase(found);
    return;
  }
  Request& request = *found->second;
  expect(event.index >= request.next_item && event.index < request.keys.size(), "items ascend");
  request.next_item = event.index + 1;
}

void SessionDrive::note(const Event& event) {
  const protocol::Reply& reply = event.reply;
  const auto add = [this](auto number) { transcript_ += std::to_string(number) + ' '; };
  add(static_cast<unsigned>(event.kind));
  const bool answers = event.kind == Event::Kind::reply || event.kind == Event::Kind::item;
  if (answers || event.kind == Event::Kind::failed) {  // others have an old ticket
    add(event.ticket.slot);
    add(event.ticket.generation);
  }
  if (answers) {
    add(static_cast<unsigned>(reply.status));
    add(static_cast<unsigned>(reply.reason));
    add(reply.flags);
    add(reply.number.value_or(0));
    add(static_cast<unsigned>(reply.lease));
    add(reply.stale);
    add(reply.unsure);
    add(reply.executed);
    add(reply.server_wall ? reply.server_wall->count() : 0);
    add(event.index);
    transcript_.append(reply.value).append(" ").append(reply.version).append(" ");
    transcript_.append(reply.text);
  } else if (event.kind == Event::Kind::failed) {
    add(static_cast<unsigned>(event.sent));
  } else if (event.kind == Event::Kind::notification) {
    add(static_cast<unsigned>(event.notification.kind));
    transcript_.append(event.notification.key).append(" ");
    transcript_.append(event.notification.value.value_or("none")).append(" ");
    transcript_.append(event.notification.version);
  } else if (event.kind == Event::Kind::closed) {
    // What the other side looks like depends on how much of it has come.
    const std::string& text = session_.close_reason().text;
    const bool guesses = text.starts_with("the server does not answer as ");
    transcript_.append(text, 0, guesses ? text.find(':') : text.npos);
  }
  transcript_ += '\n';
}

}  // namespace sheaf::fuzz
