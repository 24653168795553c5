#include "cli/listing/key_dump.h"

#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "base/secret.h"
#include "base/text.h"
#include "cli/listing/server_stream.h"
#include "protocol/memcached/meta_writer.h"

namespace sheaf::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Done = std::expected<void, std::string>;

// A walk by age misses an item that the server moves between its lists meanwhile. Only old servers,
// which do not know the other walk, are asked for it.
constexpr std::string_view by_hash = "lru_crawler metadump hash\r\n";
constexpr std::string_view by_age = "lru_crawler metadump all\r\n";
constexpr std::size_t longest_line = 4 * 1024;  // an encoded key of up to 750 bytes, and numbers

// One list of one server.
class Dump {
 public:
  Dump(ServerStream& stream, const protocol::Login* login, milliseconds patience)
      : stream_(stream), login_(login), enough_(Clock::now() + patience) {}

  // The error is a clause.
  Done run(const std::function<bool(DumpedItem item)>& take) {
    if (auto sent = stream_.send(request_); !sent) return sent;
    std::string text;
    for (;;) {
      std::size_t at = 0;
      for (std::size_t end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
        std::string_view line = std::string_view(text).substr(at, end - at);
        if (line.ends_with('\r')) line.remove_suffix(1);
        DumpLine read = read_dump_line(line);
        if (read.kind == DumpLine::Kind::end) return {};
        if (read.kind == DumpLine::Kind::item) {
          if (!take(std::move(read.item))) return {};
        } else if (auto done = answer(read.kind, line); !done) {
          return done;
        }
        answered_ = true;
      }
      text.erase(0, at);
      if (text.size() > longest_line) return std::unexpected("it sent a line without an end");
      if (auto got = stream_.receive(text); !got) return std::unexpected(why_ended(got.error()));
    }
  }

 private:
  // A line that is no item.
  Done answer(DumpLine::Kind kind, std::string_view line) {
    if (kind == DumpLine::Kind::begin) return {};
    if (kind == DumpLine::Kind::login) return log_in();
    if (logging_in_) {
      logging_in_ = false;
      if (line == "STORED") return stream_.send(request_);
      return unknown(protocol::without_secrets(line, login_));
    }
    if (request_ == by_hash && line.starts_with("BADCLASS ")) {
      request_ = by_age;
      return stream_.send(request_);
    }
    if (kind == DumpLine::Kind::busy && Clock::now() < enough_) {
      std::this_thread::sleep_for(milliseconds(50));
      return stream_.send(request_);
    }
    return unknown(line);
  }

  // Only after the server has asked for it: one that requires none would store it as a value.
  Done log_in() {
    if (login_ == nullptr || logging_in_) {
      return std::unexpected("it requires a user name and a password");
    }
    if (auto wrong = protocol::memcached::bad_meta_login(login_)) return std::unexpected(*wrong);
    logging_in_ = true;
    const std::string_view password = login_->password.view();
    const std::size_t size = login_->user.size() + 1 + password.size();
    std::string text = "set login 0 0 " + std::to_string(size) + "\r\n";
    text.append(login_->user).append(1, ' ').append(password).append("\r\n");
    auto sent = stream_.send(text);
    wipe(text);
    return sent;
  }

  static Done unknown(std::string_view line) {
    return std::unexpected("it answered \"" + printable(line, 80) + "\"");
  }

  std::string why_ended(std::string why) const {
    if (!answered_) {
      why.append("; a server that speaks only the binary protocol, as with SASL (-S), has no list");
    }
    return why;
  }

  ServerStream& stream_;
  const protocol::Login* login_;  // null: none
  const Clock::time_point enough_;
  std::string_view request_ = by_hash;
  bool logging_in_ = false;
  bool answered_ = false;
};

std::unexpected<std::string> failure(const NodeConfig& server, const std::string& what) {
  return std::unexpected("the keys of " + server.identity() + " cannot be listed: " + what);
}

}  // namespace

Done dump_keys(const DumpedServer& server, milliseconds patience,
               const std::function<bool(DumpedItem item)>& take) {
  auto stream = ServerStream::connect(server.config, server.node, patience);
  if (!stream) return failure(server.node, stream.error());
  auto listed = Dump(**stream, server.login, patience).run(take);
  if (!listed) return failure(server.node, listed.error());
  return listed;
}

}  // namespace sheaf::cli
