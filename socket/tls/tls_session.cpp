#include "socket/tls/tls_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/checks.h"
#include "socket/tls/tls_failures.h"

namespace sheaf::socket::tls {
namespace {

constexpr std::size_t largest_record = SSL3_RT_MAX_PLAIN_LENGTH;  // bytes of plaintext
// What a record adds (header, IV, padding, MAC), plus the answer to a key update before it.
constexpr std::size_t overhead = 512;
constexpr std::size_t output_size = 2 * (largest_record + overhead);
constexpr std::size_t input_size = largest_record + overhead;  // holds any record

bool is_address(const std::string& name) {
  ASN1_OCTET_STRING* const bytes = a2i_IPADDRESS(name.c_str());
  ASN1_OCTET_STRING_free(bytes);
  return bytes != nullptr;
}

}  // namespace

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context, const std::string& host,
                       std::string server)
    : context_(std::move(context)),
      name_(context_->options().name.empty() ? host : context_->options().name),
      notes_{{}, std::move(server), &context_->tickets()} {
  ERR_clear_error();
  ssl_ = SSL_new(context_->raw());
  BIO* inner = nullptr;
  if (ssl_ == nullptr || BIO_new_bio_pair(&inner, output_size, &network_, input_size) != 1) {
    fail("TLS: no memory for the connection");
    return;
  }
  SSL_set_bio(ssl_, inner, inner);
  SSL_set_connect_state(ssl_);
  SSL_set_app_data(ssl_, &notes_);
  SSL_set_verify(ssl_, SSL_VERIFY_PEER, note_verdict);
  expect(name_);
}

TlsSession::~TlsSession() {
  SSL_free(ssl_);
  BIO_free(network_);
}

// Addresses are verified as addresses and not sent as names (RFC 6066 §3).
void TlsSession::expect(const std::string& name) {
  X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl_);
  bool set = false;
  if (is_address(name)) {
    set = X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1;
  } else {
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    set = !name.empty() && X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size()) == 1 &&
          SSL_set_tlsext_host_name(ssl_, name.c_str()) == 1;
  }
  // Without a name to verify, any certificate would be accepted.
  if (!set) fail("TLS: \"" + name + "\" is not a name that a certificate can prove");
}

void TlsSession::start(Now now) {
  if (state_ == State::failed) return;
  const std::int64_t seconds = now.wall.count() / 1000;
  X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl_), static_cast<std::time_t>(seconds));
  const Ticket ticket =
      notes_.server.empty() ? nullptr : context_->tickets().take(notes_.server, seconds);
  resumes_ = ticket != nullptr && SSL_set_session(ssl_, ticket.get()) == 1;
  advance();
}

std::span<std::byte> TlsSession::input_space() {
  if (state_ == State::failed || state_ == State::ended) return {};
  char* space = nullptr;
  const int size = BIO_nwrite0(network_, &space);
  if (size <= 0) return {};
  return {reinterpret_cast<std::byte*>(space), static_cast<std::size_t>(size)};
}

void TlsSession::on_input(std::size_t size) {
  if (state_ == State::failed || size == 0) return;
  char* space = nullptr;
  const int taken = BIO_nwrite(network_, &space, static_cast<int>(size));
  SHEAF_CHECK(taken >= 0 && static_cast<std::size_t>(taken) == size);
  advance();
}

void TlsSession::on_eof() {
  if (state_ == State::failed || state_ == State::ended) return;
  BIO_shutdown_wr(network_);
  advance();
}

Bytes TlsSession::output() {
  if (network_ == nullptr) return {};
  char* bytes = nullptr;
  const int size = BIO_nread0(network_, &bytes);
  if (size <= 0) return {};
  return {reinterpret_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)};
}

void TlsSession::on_output(std::size_t size) {
  char* bytes = nullptr;
  const int taken = BIO_nread(network_, &bytes, static_cast<int>(size));
  SHEAF_CHECK(taken >= 0 && static_cast<std::size_t>(taken) == size);
  // The handshake may have waited for room.
  if (state_ == State::handshaking) advance();
}

void TlsSession::advance() {
  if (state_ != State::handshaking) return;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  if (result == 1) {
    state_ = State::open;
    progress_ = Progress::unanswered;
    // Unlike those of TLS 1.3, servers of TLS 1.2 issue no new ticket when one is used.
    if (resumes_ && SSL_version(ssl_) < TLS1_3_VERSION) {
      context_->tickets().keep(notes_.server, Ticket(SSL_get1_session(ssl_)));
    }
    encryption_ = std::string(SSL_get_version(ssl_)) + " " + SSL_get_cipher_name(ssl_);
    certificate_end_ = end_of(SSL_get0_peer_certificate(ssl_));
  } else {
    judge(result);
  }
}

// Called after a call that returned no bytes.
void TlsSession::judge(int result) {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return;
    case SSL_ERROR_ZERO_RETURN:
      if (state_ == State::open) {
        state_ = State::ended;
      } else {
        fail("TLS: the server ended the connection during the handshake");
      }
      return;
    default:
      refused_ = is_refusal(progress_);
      fail(describe_failure(ssl_, name_, progress_));
  }
}

void TlsSession::fail(std::string text) {
  state_ = State::failed;
  failure_ = std::move(text);
  ERR_clear_error();
}

std::size_t TlsSession::write(std::span<const Bytes> parts) {
  std::array<std::byte, largest_record> record;
  std::size_t taken = 0;
  std::size_t offset = 0;  // into the first part
  while (state_ == State::open && !parts.empty()) {
    // Small parts share a record; a large part needs no copy.
    Bytes next = parts.front().subspan(offset);
    std::size_t filled = 0;
    if (next.size() < largest_record && parts.size() > 1) {
      std::size_t from = offset;
      for (const Bytes part : parts) {
        const Bytes some =
            part.subspan(from).first(std::min(part.size() - from, record.size() - filled));
        std::ranges::copy(some, record.data() + filled);
        filled += some.size();
        from = 0;
        if (filled == record.size()) break;
      }
      next = Bytes(record).first(filled);
    }
    const std::size_t size = write_record(next.first(std::min(next.size(), largest_record)));
    if (size == 0 && !next.empty()) break;
    taken += size;
    for (offset += size; !parts.empty() && offset >= parts.front().size();) {
      offset -= parts.front().size();
      parts = parts.subspan(1);
    }
  }
  return taken;
}

// Takes all of the bytes or none.
std::size_t TlsSession::write_record(Bytes bytes) {
  const std::size_t room = BIO_ctrl_get_write_guarantee(SSL_get_wbio(ssl_));
  if (bytes.empty() || room < bytes.size() + overhead) return 0;
  ERR_clear_error();
  std::size_t written = 0;
  const int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &written);
  if (result == 1) return written;
  judge(result);
  // OpenSSL keeps a record that did not fit, without the caller's knowledge.
  if (state_ == State::open) fail("TLS: a record did not fit into the buffer");
  return 0;
}

std::size_t TlsSession::read(std::span<std::byte> space) {
  if (state_ != State::open || space.empty()) return 0;
  ERR_clear_error();
  std::size_t size = 0;
  const int result = SSL_read_ex(ssl_, space.data(), space.size(), &size);
  if (result != 1) {
    judge(result);
    return 0;
  }
  progress_ = Progress::answered;
  return size;
}

bool TlsSession::unread() const {
  if (state_ != State::open) return false;
  return SSL_has_pending(ssl_) == 1 || BIO_ctrl_pending(SSL_get_rbio(ssl_)) > 0;
}

void TlsSession::close() {
  if (state_ != State::open && state_ != State::ended) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

}  // namespace sheaf::socket::tls
