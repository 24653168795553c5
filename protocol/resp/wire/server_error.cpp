// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/wire/server_error.h"

#include <algorithm>
#include <limits>

#include "protocol/resp/wire/hash_slot.h"
#include "protocol/resp/wire/reply_tree.h"

namespace sheaf::protocol::resp {
namespace {

struct Row {
  std::string_view text;
  ErrorKind kind;
};

// Kinds by the first word.
constexpr Row words[] = {
    {"ASK", ErrorKind::ask},
    {"BUSY", ErrorKind::busy},
    {"BUSYKEY", ErrorKind::busy_key},
    {"CLUSTERDOWN", ErrorKind::cluster_down},
    {"CROSSSLOT", ErrorKind::cross_slot},
    {"DENIED", ErrorKind::denied},
    {"ERR", ErrorKind::plain},
    {"ETAG", ErrorKind::bad_etag},
    {"EXECABORT", ErrorKind::exec_abort},
    {"IOERR", ErrorKind::io_error},
    {"LOADING", ErrorKind::loading},
    {"MASTERDOWN", ErrorKind::master_down},
    {"MIGRATING", ErrorKind::migrating},
    {"MISCONF", ErrorKind::misconfigured},
    {"MOVED", ErrorKind::moved},
    {"NOAUTH", ErrorKind::no_auth},
    {"NOPERM", ErrorKind::no_perm},
    {"NOPROTO", ErrorKind::no_proto},
    {"NOREPLICAS", ErrorKind::no_replicas},
    {"NOSCRIPT", ErrorKind::no_script},
    {"OOM", ErrorKind::out_of_memory},
    {"READONLY", ErrorKind::read_only},
    {"TRYAGAIN", ErrorKind::try_again},
    {"UNBLOCKED", ErrorKind::unblocked},
    {"WRONGPASS", ErrorKind::wrong_pass},
    {"WRONGTYPE", ErrorKind::wrong_type},
};
static_assert(std::ranges::is_sorted(words, {}, &Row::text));

// Kinds by the text after "ERR ".
constexpr Row plain_texts[] = {
    {"unknown command", ErrorKind::unknown_command},
    {"unknown subcommand", ErrorKind::unknown_subcommand},
    {"Unknown subcommand", ErrorKind::unknown_subcommand},
    {"wrong number of arguments", ErrorKind::wrong_arguments},
    {"syntax error", ErrorKind::syntax},
    {"value is not an integer", ErrorKind::bad_number},
    {"value is not a valid float", ErrorKind::bad_number},
    {"increment or decrement would overflow", ErrorKind::overflow},
    {"invalid expire time", ErrorKind::bad_expiry},
    {"Unsupported protocol version", ErrorKind::no_proto},
    {"This instance has cluster support disabled", ErrorKind::cluster_disabled},
    {"This instance has Lua scripting support disabled", ErrorKind::scripts_disabled},
    {"You can't write against a read only", ErrorKind::read_only},
    {"Client sent AUTH, but", ErrorKind::auth_unwanted},
    {"AUTH <password> called without any password", ErrorKind::auth_unwanted},
    {"invalid password", ErrorKind::wrong_pass},
    {"max number of clients reached", ErrorKind::too_many_clients},
    {"Protocol error", ErrorKind::protocol_error},
    {"Protocol Error", ErrorKind::protocol_error},
};

// Takes the text up to the next blank, and the blank.
std::string_view take_word(std::string_view& text) noexcept {
  const std::size_t size = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return word;
}

std::optional<std::uint16_t> number_below(std::string_view text, std::int64_t bound) noexcept {
  const auto number = parse_number(text);
  if (!number || *number < 0 || *number >= bound) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

bool may_be_host(std::string_view host) noexcept {
  constexpr std::size_t longest = 255;
  return host.size() <= longest &&
         std::ranges::all_of(host, [](char c) { return c > ' ' && c < '\x7f'; });
}

// "SLOT HOST:PORT". An IPv6 address contains colons and no brackets, so the last colon separates.
std::optional<Redirect> parse_redirect(std::string_view text) noexcept {
  constexpr std::int64_t ports = std::int64_t{std::numeric_limits<std::uint16_t>::max()} + 1;
  const auto slot = number_below(take_word(text), slot_count);
  const std::size_t colon = text.rfind(':');
  if (!slot || colon == text.npos) return std::nullopt;
  const auto port = number_below(text.substr(colon + 1), ports);
  std::string_view host = text.substr(0, colon);
  if (!port || !may_be_host(host)) return std::nullopt;
  if (host.size() > 2 && host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty()) return Redirect{*slot, Redirect::Target::answering_host, {}, *port};
  if (host == "?") return Redirect{*slot, Redirect::Target::unknown_host, {}, *port};
  if (host == "unassigned") return Redirect{*slot, Redirect::Target::unknown_host, {}, 0};
  return Redirect{*slot, Redirect::Target::named, host, *port};
}

// From Redis and Valkey, when they do not know a command. A password or a value may follow.
constexpr std::string_view repeated_words = ", with args beginning with: ";

// Removes the place of an error inside a script: " script: SHA, on @user_script:LINE."
std::string_view without_script(std::string_view text) noexcept {
  const std::size_t place = text.rfind(", on @user_script:");
  return place == text.npos ? text : text.substr(0, text.rfind(" script: ", place));
}

ErrorKind kind_of_plain(std::string_view rest) noexcept {
  const auto begins_rest = [&](const Row& row) { return rest.starts_with(row.text); };
  const auto* const row = std::ranges::find_if(plain_texts, begins_rest);
  return row == std::ranges::end(plain_texts) ? ErrorKind::plain : row->kind;
}

}  // namespace

ServerError ServerError::parse(std::string_view text) noexcept {
  text = without_script(text.substr(0, text.find(repeated_words)));
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  const auto* const row = std::ranges::lower_bound(words, word, {}, &Row::text);
  ServerError error{.text = text};
  if (row == std::ranges::end(words) || row->text != word) return error;
  error.kind = row->kind;
  if (error.kind == ErrorKind::plain) {
    error.kind = kind_of_plain(rest);
  } else if (error.kind == ErrorKind::moved || error.kind == ErrorKind::ask) {
    error.redirect = parse_redirect(rest);
    if (!error.redirect) {
      error.kind = ErrorKind::bad_redirect;
    } else if (error.redirect->port == 0) {
      error.kind = ErrorKind::cluster_down;
      error.redirect.reset();
    }
  }
  return error;
}

Execution ServerError::execution() const noexcept {
  using enum ErrorKind;
  switch (kind) {
    case moved:
    case ask:
    case try_again:
    case cluster_down:
    case migrating:
    case loading:
    case read_only:
    case master_down:
    case busy:
    case unblocked:
    case no_replicas:
    case misconfigured:
    case out_of_memory:
    case no_auth:
    case too_many_clients:
    case no_script:
      return Execution::not_executed;
    case wrong_pass:
    case auth_unwanted:
    case no_perm:
    case denied:
    case no_proto:
    case cross_slot:
    case wrong_type:
    case unknown_command:
    case unknown_subcommand:
    case wrong_arguments:
    case syntax:
    case bad_number:
    case overflow:
    case bad_expiry:
    case bad_etag:
    case busy_key:
    case exec_abort:
    case cluster_disabled:
    case scripts_disabled:
    case plain:
      return Execution::refused;
    case protocol_error:
    case io_error:
    case bad_redirect:
    case other:
      return Execution::unknown;
  }
  return Execution::unknown;
}

Reason ServerError::reason() const noexcept {
  using enum ErrorKind;
  switch (kind) {
    case out_of_memory:
      return Reason::quota;
    case no_auth:
    case wrong_pass:
    case auth_unwanted:
      return Reason::authentication;
    case no_perm:
    case denied:
      return Reason::not_authorized;
    case wrong_type:
      return Reason::wrong_type;
    case unknown_command:
    case unknown_subcommand:
      return Reason::unknown_command;
    case wrong_arguments:
      return Reason::wrong_arguments;
    case syntax:
      return Reason::syntax;
    case cross_slot:
    case bad_number:
    case overflow:
    case bad_expiry:
    case bad_etag:
      return Reason::bad_argument;
    case protocol_error:
    case bad_redirect:
      return Reason::protocol_error;
    case too_many_clients:
      return Reason::connect_failed;
    default:
      return Reason::other;
  }
}

bool ServerError::ends_connection() const noexcept {
  using enum ErrorKind;
  return kind == no_auth || kind == denied || kind == too_many_clients || kind == protocol_error;
}

bool ServerError::turns_away() const noexcept {
  using enum ErrorKind;
  const bool has_no_data = kind == loading || kind == master_down;
  return ends_connection() || has_no_data || kind == wrong_pass || kind == auth_unwanted;
}

bool ServerError::permanent() const noexcept {
  using enum ErrorKind;
  switch (kind) {
    case no_auth:
    case wrong_pass:
    case auth_unwanted:
    case no_perm:
    case denied:
      return true;
    default:
      return false;
  }
}

}  // namespace sheaf::protocol::resp
