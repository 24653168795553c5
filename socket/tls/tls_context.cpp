#include "socket/tls/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/descriptor.h"
#include "base/secret.h"
#include "base/text.h"
#include "socket/tls/authority_files.h"
#include "socket/tls/tls_notes.h"

namespace sheaf::socket::tls {
namespace {

using Fault = std::optional<std::string>;

constexpr int security_level = 2;                  // 112 bits, SSL_CTX_set_security_level(3)
constexpr std::size_t longest_name = 255;          // RFC 7301 §3.1
constexpr std::size_t longest_passphrase = 1'024;  // PEM_BUFSIZE, the space that OpenSSL has for it

// Returns the cause of OpenSSL's latest error and empties the queue.
std::string take_cause() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "it cannot be used";
}

Fault unreadable(std::string_view option, const std::string& path) {
  // A folder can be opened but not read.
  const OwnedFile file(std::fopen(path.c_str(), "re"));
  bool failed = file == nullptr;
  if (file != nullptr) {
    std::fgetc(file.get());
    failed = std::ferror(file.get()) != 0;
  }
  const int error = errno;
  if (!failed) return std::nullopt;
  return std::string(option) + " " + path + " cannot be read: " + std::strerror(error);
}

std::string no_pem(std::string_view option, const std::string& path, std::string_view what) {
  const unsigned long first = ERR_peek_error();
  const bool missing =
      ERR_GET_REASON(first) == PEM_R_NO_START_LINE || ERR_GET_LIB(first) == ERR_LIB_OSSL_DECODER;
  const std::string cause = take_cause();
  const std::string begin = std::string(option) + " " + path;
  if (missing) return begin + " has no " + std::string(what) + " in PEM form";
  return begin + " cannot be used: " + cause;
}

Fault load_authorities(SSL_CTX* context, const std::string& path) {
  if (path.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return std::nullopt;
    return "the system's authorities cannot be loaded: " + take_cause();
  }
  // A folder may have other files, too, if one has a certificate.
  bool found = false;
  for (const std::string& file : authority_files(path)) {
    if (auto fault = unreadable("tls_ca", file)) return fault;
    const bool loaded = SSL_CTX_load_verify_file(context, file.c_str()) == 1;
    const int reason = ERR_GET_REASON(ERR_peek_last_error());
    if (!loaded && reason != X509_R_NO_CERTIFICATE_OR_CRL_FOUND) {
      return no_pem("tls_ca", file, "certificate");
    }
    ERR_clear_error();
    found = found || loaded;
  }
  if (found) return std::nullopt;
  return "tls_ca " + path + " has no certificate in PEM form";
}

// The passphrase of a key.
struct Passphrase {
  Secret text;
  bool asked = false;  // the key is encrypted
};

// Without this callback OpenSSL would ask the terminal for a passphrase.
int give_passphrase(char* space, int size, int, void* given) {
  Passphrase& passphrase = *static_cast<Passphrase*>(given);
  passphrase.asked = true;
  const std::string_view text = passphrase.text.view();
  if (text.empty() || text.size() > static_cast<std::size_t>(size)) return -1;
  std::ranges::copy(text, space);
  return static_cast<int>(text.size());
}

// Reads the content of the file without white space at its ends.
Fault read_passphrase(const std::string& path, Passphrase& passphrase) {
  if (path.empty()) return std::nullopt;
  const std::string file = "tls_key_password_file " + path;
  Secret content(longest_passphrase + 1);
  const OwnedFile opened(std::fopen(path.c_str(), "re"));
  const auto size =
      opened == nullptr ? std::nullopt : read_up_to(fileno(opened.get()), content.writable());
  if (!size) return file + " cannot be read: " + std::strerror(errno);
  if (*size > longest_passphrase) {
    return file + " has more than " + std::to_string(longest_passphrase) + " bytes";
  }
  const std::string_view text = trimmed(content.view().substr(0, *size), " \t\r\n");
  if (text.empty()) return file + " has no passphrase";
  passphrase.text = Secret(text);
  return std::nullopt;
}

Fault load_key(SSL_CTX* context, const TlsOptions& options) {
  if (auto fault = unreadable("tls_key", options.key_file)) return fault;
  Passphrase passphrase;
  if (auto fault = read_passphrase(options.key_password_file, passphrase)) return fault;
  SSL_CTX_set_default_passwd_cb(context, give_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &passphrase);
  const bool loaded =
      SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  if (loaded && SSL_CTX_check_private_key(context) == 1) return std::nullopt;
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  if (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH) {
    ERR_clear_error();
    return "tls_key " + options.key_file + " is not the key of the certificate in tls_cert " +
           options.certificate_file;
  }
  if (!passphrase.asked) return no_pem("tls_key", options.key_file, "private key");
  ERR_clear_error();
  const std::string begin = "tls_key " + options.key_file + " is encrypted";
  if (options.key_password_file.empty()) return begin + "; set tls_key_password_file";
  return begin + " with another passphrase than that in tls_key_password_file " +
         options.key_password_file;
}

Fault load_identity(SSL_CTX* context, const TlsOptions& options) {
  if (options.certificate_file.empty() && options.key_file.empty()) return std::nullopt;
  if (options.certificate_file.empty()) return "tls_key needs tls_cert";
  if (options.key_file.empty()) return "tls_cert needs tls_key";
  if (auto fault = unreadable("tls_cert", options.certificate_file)) return fault;
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1) {
    return no_pem("tls_cert", options.certificate_file, "certificate");
  }
  return load_key(context, options);
}

Fault offer(SSL_CTX* context, const std::string& protocol) {
  if (protocol.empty()) return std::nullopt;
  if (protocol.size() > longest_name) return "the name of the protocol has more than 255 bytes";
  std::string list(1, static_cast<char>(protocol.size()));
  list += protocol;
  const auto* bytes = reinterpret_cast<const unsigned char*>(list.data());
  // Unlike the others, this function returns 0 on success.
  if (SSL_CTX_set_alpn_protos(context, bytes, static_cast<unsigned>(list.size())) == 0) {
    return std::nullopt;
  }
  return "no protocol can be offered: " + take_cause();
}

Fault prepare(SSL_CTX* context, const TlsOptions& options) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_security_level(context, security_level);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, note_ticket);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (auto fault = load_authorities(context, options.ca_file)) return fault;
  if (auto fault = load_identity(context, options)) return fault;
  return offer(context, options.protocol);
}

}  // namespace

std::expected<std::shared_ptr<const TlsContext>, std::string> TlsContext::open(TlsOptions options) {
  ERR_clear_error();
  SSL_CTX* raw = SSL_CTX_new(TLS_client_method());
  if (raw == nullptr) return std::unexpected("TLS cannot be set up: " + take_cause());
  std::shared_ptr<const TlsContext> context(new TlsContext(std::move(options), raw));
  if (auto fault = prepare(raw, context->options())) return std::unexpected(std::move(*fault));
  ERR_clear_error();
  return context;
}

std::optional<std::chrono::milliseconds> TlsContext::certificate_end() const {
  return end_of(SSL_CTX_get0_certificate(raw_));
}

TlsContext::~TlsContext() { SSL_CTX_free(raw_); }

}  // namespace sheaf::socket::tls
