// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/config/config_options.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <optional>
#include <vector>

#include "base/nearest_word.h"
#include "base/text.h"
#include "protocol/address_map.h"

namespace sheaf::cluster {
namespace {

using std::chrono::milliseconds;
using Config = ClusterConfig;
using Type = OptionType;
using Group = protocol::OptionGroup;

constexpr std::uint64_t day = 86'400'000;  // ms
constexpr std::uint64_t longest_ttl = static_cast<std::uint64_t>(Ttl::max.count());
constexpr std::size_t longest_shown = 64;
constexpr std::string_view duration_hint = ", such as 250ms, 3s, 5m or 1h";
constexpr std::size_t longest_path = 4'095;  // bytes; Linux, PATH_MAX with its NUL

using Access = OptionAccess;

template <auto Member>
constexpr Access flag() {
  return {[](Config& config, const OptionValue& value) { config.*Member = value.number != 0; },
          [](const Config& config) { return OptionValue{config.*Member ? 1u : 0u, {}}; }};
}
template <auto Member>
constexpr Access number() {
  return {[](Config& config, const OptionValue& value) {
            using Field = std::remove_reference_t<decltype(config.*Member)>;
            config.*Member = static_cast<Field>(value.number);
          },
          [](const Config& config) { return OptionValue{config.*Member, {}}; }};
}
template <auto Member>
constexpr Access duration() {
  return {[](Config& config, const OptionValue& value) {
            config.*Member = milliseconds(static_cast<std::int64_t>(value.number));
          },
          [](const Config& config) {
            return OptionValue{static_cast<std::uint64_t>((config.*Member).count()), {}};
          }};
}
template <auto Member>
constexpr Access text() {
  return {
      [](Config& config, const OptionValue& value) { config.*Member = std::string(value.text); },
      [](const Config& config) { return OptionValue{0, config.*Member}; }};
}
// The enumerators are in the order of the choices.
template <auto Member>
constexpr Access choice() {
  return {[](Config& config, const OptionValue& value) {
            using Field = std::remove_reference_t<decltype(config.*Member)>;
            config.*Member = static_cast<Field>(value.number);
          },
          [](const Config& config) {
            return OptionValue{static_cast<std::uint64_t>(config.*Member), {}};
          }};
}
// RingProfile::none is not among the choices, so the first choice has the value 1.
constexpr Access ring{
    [](Config& config, const OptionValue& value) {
      config.locator = LocatorKind::ring;
      config.ring = static_cast<RingProfile>(1 + value.number);
    },
    [](const Config& config) { return OptionValue{static_cast<std::uint64_t>(config.ring), {}}; }};
// Without a time to live the longest is returned.
constexpr Access default_ttl{
    [](Config& config, const OptionValue& value) {
      config.default_ttl = Ttl(milliseconds(static_cast<std::int64_t>(value.number)));
    },
    [](const Config& config) {
      const Ttl ttl = config.default_ttl.value_or(Ttl(Ttl::max));
      return OptionValue{static_cast<std::uint64_t>(ttl.milliseconds().count()), {}};
    }};
constexpr Access engine{nullptr, nullptr};

// clang-format off: a table.
constexpr std::array all_options{
    Option{"locator", Type::choice, Group::common, 0, 0, "slots|ring", "slots",
           choice<&Config::locator>(), "How keys are spread over nodes."},
    Option{"slots", Type::power_of_two, Group::common, 1u << 10, 1u << 22, "", "65536",
           number<&Config::slots>(),
           "Number of slots of `locator=slots`. Changing it moves nearly every key."},
    Option{"failover", Type::choice, Group::common, 0, 0, "owner|rehash", "owner",
           choice<&Config::failover>(),
           "What happens to the keys of a node that is down: they stay with it, or go to the next "
           "nodes until it is back. `rehash` is for caches: the node may come back with old "
           "values; state stores then have no fences, locks, lists or watches, and `redis://` has "
           "no watches."},
    Option{"ring", Type::choice, Group::memcached, 0, 0,
           "libmemcached|libmemcached-weighted|spymemcached|modula|pymemcache|dalli", "", ring,
           "The placement of another client, to share its keys; implies `locator=ring`.",
           " (ketama is libmemcached-weighted in libmemcached and PHP, and spymemcached in Java)"},
    Option{"protocol", Type::choice, Group::memcached, 0, 0, "auto|binary|meta", "auto",
           choice<&Config::protocol>(), "Which of memcached's protocols the client speaks."},
    Option{"routing", Type::choice, Group::redis, 0, 0, "cluster|ring", "cluster",
           choice<&Config::routing>(),
           "Which side decides which server has a key: the servers, which form a cluster, or the "
           "client, by its locator over standalone servers."},
    Option{"reads", Type::choice, Group::redis, 0, 0, "primary|replicas", "primary",
           choice<&Config::reads>(),
           "Which server answers reads in a cluster: the owner of a key, or the one of owner and "
           "replicas that is expected to answer first. A replica may return an older value."},
    Option{"replica_misses", Type::choice, Group::redis, 0, 0, "confirm|trust", "confirm",
           choice<&Config::replica_misses>(),
           "With `reads=replicas`: `confirm` also reads a key that a replica does not have from "
           "the owner before it counts as a miss; `trust` does not."},
    Option{"hedged_reads", Type::boolean, Group::redis, 0, 1, "", "false",
           flag<&Config::hedged_reads>(),
           "With `reads=replicas`: a `get` that has waited longer than nearly all others is also "
           "sent to another holder of its key, and the first answer counts."},
    Option{"hosts", Type::choice, Group::redis, 0, 0, "addresses|names", "addresses",
           choice<&Config::hosts>(),
           "How servers of a cluster that are not given here are reached: by their addresses, or "
           "by the names that they announce."},
    Option{"address_map", Type::pairs, Group::redis, 0, 0, "", "", text<&Config::address_map>(),
           "Where servers are reached that announce other addresses, such as "
           "`10.0.0.5:7000=gate.example:17000`. Without ports a pair holds for every port of the "
           "host."},
    Option{"extra_connections", Type::integer, Group::extra_connections, 0, 64, "", "8",
           number<&Config::extra_connections>(),
           "Most extra connections to a node, for threads that use it at the same time: for "
           "large batches of gets, and for single keys if few threads share a node. With more than "
           "1,024 to all nodes together there are fewer, at least 1. Not with `failover=rehash` or "
           "`reads=replicas`."},
    Option{"item_size", Type::size, Group::memcached, 1u << 10, 1u << 30, "", "1MiB",
           number<&Config::item_size>(), "The servers' `-I`: bounds key and value together."},
    Option{"allow_plain_password", Type::boolean, Group::common, 0, 1, "", "false",
           flag<&Config::allow_plain_password>(),
           "Lets a password or a token cross a network without TLS."},
    Option{"password_file", Type::path, Group::common, 0, 0, "", "", text<&Config::password_file>(),
           "The file with the password, which may be replaced at any time."},
    Option{"token_file", Type::path, Group::mqtt, 0, 0, "", "", text<&Config::token_file>(),
           "The file with a token to log in with instead of user and password; may be replaced at "
           "any time."},
    Option{"auth_method", Type::name, Group::mqtt, 0, 0, "", "K8S-SAT",
           text<&Config::auth_method>(),
           "The brokers' name for the authentication method of `token_file`."},
    Option{"tls_ca", Type::path, Group::tls, 0, 0, "", "", text<&Config::tls_ca>(),
           "The trusted certificate authorities in PEM form, in a file or in all files of a "
           "folder; by default those of the system."},
    Option{"tls_cert", Type::path, Group::tls, 0, 0, "", "", text<&Config::tls_cert>(),
           "Our certificate with its chain, in PEM form; goes with `tls_key`."},
    Option{"tls_key", Type::path, Group::tls, 0, 0, "", "", text<&Config::tls_key>(),
           "The key of `tls_cert` in PEM form."},
    Option{"tls_key_password_file", Type::path, Group::tls, 0, 0, "", "",
           text<&Config::tls_key_password_file>(),
           "The file with the passphrase of `tls_key`, if the key has one."},
    Option{"tls_name", Type::host, Group::tls, 0, 0, "", "", text<&Config::tls_name>(),
           "The name that the certificates of all servers must carry, instead of each server's "
           "host."},
    Option{"tls_alpn", Type::name, Group::tls, 0, 0, "", "", text<&Config::tls_alpn>(),
           "The protocol to ask for (ALPN), such as `mqtt`."},
    Option{"timeout", Type::duration, Group::common, 1, day, "", "1s", duration<&Config::timeout>(),
           "Default deadline of an operation."},
    Option{"connect_timeout", Type::duration, Group::common, 1, day, "", "500ms",
           duration<&Config::connect_timeout>(),
           "Longest attempt to connect, log in and subscribe; a node's first may take `timeout` "
           "if that is longer."},
    Option{"default_ttl", Type::duration, Group::common, 1, longest_ttl, "", "", default_ttl,
           "Default time to live of a set."},
    Option{"value_limit", Type::size, Group::common, 1, (256u << 20) - (64u << 10), "", "16MiB",
           number<&Config::value_limit>(), "Largest value sent or taken."},
    Option{"pool_min", Type::integer, Group::common, 0, 64, "", "1", number<&Config::pool_min>(),
           "Connections kept open to each node."},
    Option{"pool_max", Type::integer, Group::common, 1, 64, "", "1", number<&Config::pool_max>(),
           "Most connections to a node; not below `pool_min`."},
    Option{"idle_timeout", Type::duration, Group::common, 1, day, "", "1m",
           duration<&Config::idle_timeout>(),
           "Idle connections above `pool_min` are closed after this."},
    Option{"busy_timeout", Type::duration, Group::common, 1, day, "", "30s",
           duration<&Config::busy_timeout>(),
           "A connection whose oldest request is older than this is closed."},
    Option{"max_in_flight", Type::integer, Group::common, 1, 65'535, "", "1024",
           number<&Config::max_in_flight>(), "Requests in flight to a node."},
    Option{"max_bytes_in_flight", Type::size, Group::common, 1, 1ull << 40, "", "8MiB",
           number<&Config::max_bytes_in_flight>(),
           "Bytes of requests in flight to a node; one larger request goes alone."},
    Option{"max_waiting", Type::integer, Group::common, 0, 1u << 24, "", "65536",
           number<&Config::max_waiting>(),
           "Requests that may wait for room on a node; more are `overloaded`."},
    Option{"keep_alive", Type::duration, Group::common, 1'000, 65'535'000, "", "10s",
           duration<&Config::keep_alive>(), "Longest silence before a connection is tested."},
    Option{"spin", Type::boolean, Group::common, 0, 1, "", "true", flag<&Config::spin>(),
           "A blocking caller polls up to 50 us, or gives the processor away a few times, before "
           "it sleeps."},
    Option{"log_keys", Type::boolean, Group::common, 0, 1, "", "false", flag<&Config::log_keys>(),
           "Prints keys in logs instead of their hash."},
    Option{"client_id", Type::name, Group::common, 0, 0, "", "sheaf", text<&Config::client_id>(),
           "Prefix of the MQTT client ID; a random part follows."},
    Option{"client_id_exact", Type::name, Group::mqtt, 0, 0, "", "",
           text<&Config::client_id_exact>(),
           "The whole MQTT client ID, in place of `client_id`. Further connections to a broker add "
           "a suffix."},
    Option{"name", Type::name, Group::engines, 0, 0, "", "", text<&Config::embedded_name>(),
           "Clients of one process with the same name share their engines."},
    Option{"spelling", Type::choice, Group::engines, 0, 0, "sdk|page", "sdk", engine,
           "How the engine spells its answers."},
    Option{"max_keys", Type::integer, Group::engines, 0, 0, "", "1000000", engine,
           "Quota of keys of an engine."},
    Option{"max_bytes", Type::size, Group::engines, 0, 0, "", "1GiB", engine,
           "Quota of bytes, keys and values, of an engine."},
    Option{"max_watches", Type::integer, Group::engines, 0, 0, "", "100000", engine,
           "Watches that an engine holds."},
    Option{"max_duplicates", Type::integer, Group::engines, 0, 0, "", "100000", engine,
           "Answers to writes that an engine remembers."},
    Option{"fence_retention", Type::duration, Group::engines, 0, 0, "", "0ms", engine,
           "How long a fence outlives its key."},
    Option{"notify", Type::choice, Group::engines, 0, 0, "push|subscribed", "push", engine,
           "Which clients are notified of changes to a watched key."},
    Option{"reply_topics", Type::choice, Group::engines, 0, 0, "any|own", "any", engine,
           "Response topics that an engine accepts."},
    Option{"data", Type::path, Group::engines, 0, 0, "", "", engine,
           "The file in which an engine keeps its data over restarts."},
    Option{"durability", Type::choice, Group::engines, 0, 0,
           "acknowledged|a duration from 1ms to 10s", "acknowledged", engine,
           "When that file is written: before an answer, or at the latest this long after a "
           "change."},
    Option{"persist", Type::choice, Group::engines, 0, 0, "all|asked", "all", engine,
           "Which keys are in that file."},
};
// clang-format on

// The index of a value among the choices.
std::optional<std::uint64_t> find_choice(std::string_view choices,
                                         std::string_view value) noexcept {
  for (std::uint64_t place = 0; !choices.empty(); ++place) {
    const std::size_t bar = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, bar) == value) return place;
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return std::nullopt;
}

// What a value must be in JSON; empty if it may be written like this.
std::string_view json_fault(OptionType type, Written written) noexcept {
  switch (type) {
    case Type::boolean:
      return written == Written::json_boolean ? "" : "a JSON boolean";
    case Type::integer:
    case Type::power_of_two:
      return written == Written::json_number ? "" : "a JSON number";
    case Type::size:
      return written == Written::json_boolean ? "a JSON number or string" : "";
    case Type::duration:
    case Type::choice:
    case Type::name:
    case Type::path:
    case Type::host:
    case Type::pairs:
      break;
  }
  return written == Written::json_text ? "" : "a JSON string";
}

bool in_range(const Option& option, std::uint64_t number) {
  if (option.type == Type::choice) {
    const auto choices =
        std::ranges::count(option.choices, '|') + (option.fallback.empty() ? 2 : 1);
    return number < static_cast<std::uint64_t>(choices);
  }
  if (number < option.low || number > option.high) return false;
  return option.type != Type::power_of_two || std::has_single_bit(number);
}

// Checks the characters of a host; config_check.h checks the rest.
bool is_host(std::string_view text) noexcept {
  constexpr auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == ':';
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

bool is_text_option(OptionType type) noexcept {
  return type == Type::name || type == Type::path || type == Type::host || type == Type::pairs;
}

// True if a text may be the value of an option of this type.
bool fits(OptionType type, std::string_view text) {
  if (type == Type::name) return is_name(text);
  if (type == Type::host) return is_host(text);
  if (type == Type::pairs) return protocol::AddressMap::parse(text).has_value();
  return !text.empty() && text.size() <= longest_path && text.find('\0') == text.npos;
}

// The number that represents `text`; nothing if it is not allowed.
std::optional<std::uint64_t> read_value(const Option& option, std::string_view text) {
  switch (option.type) {
    case Type::boolean:
      if (text == "true" || text == "1") return 1;
      if (text == "false" || text == "0") return 0;
      return std::nullopt;
    case Type::integer:
    case Type::power_of_two: {
      const auto number = parse_decimal(text);
      return number && in_range(option, *number) ? number : std::nullopt;
    }
    case Type::size: {
      const auto size = parse_size(text);
      return size && in_range(option, *size) ? size : std::nullopt;
    }
    case Type::duration: {
      const auto duration = parse_duration(text);
      if (!duration || !in_range(option, static_cast<std::uint64_t>(duration->count()))) {
        return std::nullopt;
      }
      return static_cast<std::uint64_t>(duration->count());
    }
    case Type::choice:
      return find_choice(option.choices, text);
    case Type::name:
    case Type::path:
    case Type::host:
    case Type::pairs:
      if (fits(option.type, text)) return 0;
      return std::nullopt;
  }
  return std::nullopt;
}

std::string duration_text(std::uint64_t count) {
  return format_duration(milliseconds(static_cast<std::int64_t>(count)));
}

std::string either(std::string_view choices) {
  std::string out;
  for (const char c : choices) c == '|' ? out.append(" or ") : out.append(1, c);
  return out;
}

}  // namespace

std::span<const Option> option_table() noexcept { return all_options; }

std::string only_for(Group group) {
  return "for " + protocol::list_schemes_with(group, "://") + " only";
}

bool is_given(const ClusterConfig& config, const Option& option) {
  if (option.access.get == nullptr) return false;
  return option.access.get(config) != option.access.get(ClusterConfig());
}

const Option* find_option(std::string_view name) noexcept {
  const auto found = std::ranges::find(all_options, name, &Option::name);
  return found == all_options.end() ? nullptr : &*found;
}

std::string guess(std::string_view name, std::span<const std::string_view> known) {
  const std::string meant = did_you_mean(name, known);
  return meant.empty() ? meant : "." + meant;
}

std::string guess_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : all_options) names.push_back(option.name);
  return guess(name, names);
}

std::string allowed(const Option& option) {
  const auto range = [&](const std::string& what, auto print) {
    if (option.judged_by_engine()) return what;
    return what + " from " + print(option.low) + " to " + print(option.high);
  };
  const auto plain = [](std::uint64_t number) { return std::to_string(number); };
  switch (option.type) {
    case Type::boolean:
      return "true, false, 1 or 0";
    case Type::integer:
      return range("an integer", plain);
    case Type::power_of_two:
      return range("a power of two", plain);
    case Type::size:
      return range("bytes", plain) + " (KiB, MiB or GiB may follow)";
    case Type::duration:
      return range("a duration", duration_text);
    case Type::choice:
      return either(option.choices);
    case Type::path:
      return "the path of a file";
    case Type::host:
      return "a name or an address";
    case Type::pairs:
      return "pairs HOST[:PORT]=HOST[:PORT], with commas between them";
    case Type::name:
      break;
  }
  return std::string(name_rule);
}

std::expected<void, std::string> set_option(ClusterConfig& config, const Option& option,
                                            std::string_view value, Written written) {
  if (written != Written::uri) {
    const std::string_view fault = json_fault(option.type, written);
    const std::string words = "must be " + std::string(fault);
    if (!fault.empty() && option.type == Type::boolean) return std::unexpected(words);
    if (!fault.empty()) return std::unexpected(words + ": " + allowed(option));
  }
  if (option.judged_by_engine()) {
    config.engine_options.emplace_back(option.name, value);
    return {};
  }
  if (option.type == Type::pairs) {
    if (const auto map = protocol::AddressMap::parse(value); !map) {
      return std::unexpected("must be " + allowed(option) + ": " + map.error());
    }
  }
  const auto number = read_value(option, value);
  if (!number) {
    const bool no_unit = option.type == Type::duration && !parse_duration(value);
    return std::unexpected("is \"" + printable(value, longest_shown) + "\", not " +
                           allowed(option) + std::string(no_unit ? duration_hint : option.hint));
  }
  option.access.set(config, {*number, value});
  return {};
}

std::optional<std::string> check_option(const ClusterConfig& config, const Option& option) {
  if (option.access.get == nullptr) return std::nullopt;
  const OptionValue value = option.access.get(config);
  std::string shown;
  if (is_text_option(option.type)) {
    const bool unset = value.text.empty() && option.fallback.empty();
    if (unset || fits(option.type, value.text)) return std::nullopt;
    shown = printable(value.text, longest_shown);
  } else {
    if (in_range(option, value.number)) return std::nullopt;
    shown =
        option.type == Type::duration ? duration_text(value.number) : std::to_string(value.number);
  }
  return "is \"" + shown + "\", not " + allowed(option);
}

bool is_name(std::string_view text) noexcept {
  constexpr auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, fits);
}

}  // namespace sheaf::cluster
