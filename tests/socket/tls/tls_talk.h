#pragma once

// Sessions that talk to a server over memory.

#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "socket/tls/tls_session.h"
#include "tests/socket/tls/tls_fixture.h"

namespace sheaf::socket::tls {

class TlsTalkTest : public TlsTest {
 protected:
  using State = TlsSession::State;

  static void feed(TlsSession& session, std::string_view bytes) {
    while (!bytes.empty()) {
      const auto space = session.input_space();
      if (space.empty()) return;
      const std::size_t size = std::min(space.size(), bytes.size());
      std::memcpy(space.data(), bytes.data(), size);
      session.on_input(size);
      bytes.remove_prefix(size);
    }
  }
  static std::string drain(TlsSession& session) {
    std::string out;
    for (Bytes bytes = session.output(); !bytes.empty(); bytes = session.output()) {
      out += as_text(bytes);
      session.on_output(bytes.size());
    }
    return out;
  }
  static std::string read_all(TlsSession& session) {
    std::string text;
    char buffer[1000];
    while (const std::size_t size = session.read(std::as_writable_bytes(std::span(buffer)))) {
      text.append(buffer, size);
    }
    return text;
  }
  // Runs until neither side has anything to send.
  static void talk(TlsSession& session, MemoryServer& peer) {
    for (bool more = true; more;) {
      const std::string up = drain(session);
      peer.take(up);
      const std::string down = peer.give();
      feed(session, down);
      more = !up.empty() || !down.empty();
    }
  }
  static std::size_t write(TlsSession& session, std::string_view text) {
    const Bytes parts[] = {as_bytes(text)};
    return session.write(parts);
  }
  std::unique_ptr<TlsSession> start(std::shared_ptr<const TlsContext> context,
                                    const std::string& host = "broker.example",
                                    const std::string& whose_tickets = {}) const {
    auto session = std::make_unique<TlsSession>(std::move(context), host, whose_tickets);
    session->start(now);
    return session;
  }
  std::unique_ptr<TlsSession> start(const TlsOptions& options,
                                    const std::string& host = "broker.example") const {
    return start(open(options), host);
  }
};

}  // namespace sheaf::socket::tls
