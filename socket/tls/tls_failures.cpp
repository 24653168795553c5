#include "socket/tls/tls_failures.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "socket/tls/tls_notes.h"

namespace sheaf::socket::tls {
namespace {

// The error that explains the failure. Normally it is the latest. Since OpenSSL 3.2 a failure of
// the record layer is followed by an error that says only that there was one; then it is the first.
unsigned long cause() {
  const unsigned long latest = ERR_peek_last_error();
#ifdef SSL_R_RECORD_LAYER_FAILURE
  if (ERR_GET_LIB(latest) == ERR_LIB_SSL && ERR_GET_REASON(latest) == SSL_R_RECORD_LAYER_FAILURE) {
    return ERR_peek_error();
  }
#endif
  return latest;
}

std::string describe_certificate(long code, const std::string& name) {
  switch (code) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate is not for " + name;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "the server's certificate is self-signed and not trusted";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return "the server's certificate comes from an authority that is not trusted";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "the server's certificate chain leads to no trusted authority or is incomplete";
    case X509_V_ERR_EE_KEY_TOO_SMALL:
      return "the key of the server's certificate is too weak";
    case X509_V_ERR_CA_KEY_TOO_SMALL:
      return "the key of the server's authority is too weak";
    case X509_V_ERR_CA_MD_TOO_WEAK:
      return "the server's certificate is signed with a hash that is too weak";
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the server's certificate was not signed by the authority that it names";
    case X509_V_ERR_INVALID_PURPOSE:
      return "the server's certificate is not meant for servers";
    default:
      return std::string("the server's certificate is refused: ") +
             X509_verify_cert_error_string(code);
  }
}

// True for alerts about what one side shows or offers, false for those about single records.
bool refuses(int alert) {
  switch (alert) {
    case SSL_R_SSLV3_ALERT_UNEXPECTED_MESSAGE:
    case SSL_R_SSLV3_ALERT_BAD_RECORD_MAC:
    case SSL_R_TLSV1_ALERT_DECRYPTION_FAILED:
    case SSL_R_TLSV1_ALERT_RECORD_OVERFLOW:
    case SSL_R_TLSV1_ALERT_DECODE_ERROR:  // also after an end without close_notify
    case SSL_R_TLSV1_ALERT_INTERNAL_ERROR:
    case SSL_R_TLSV1_ALERT_USER_CANCELLED:
      return false;
    default:
      return true;
  }
}

std::string describe_alert(int reason, bool refused) {
  if (!refused) {
    return std::string("the server ended the connection by an alert: ") +
           SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET);
  }
  switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "the server requires a client certificate; set tls_cert and tls_key";
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "the server does not speak TLS 1.2 or later";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "the server does not trust the authority of our certificate";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "the server says that our certificate has expired";
    default:
      return std::string("the server refuses the connection: ") +
             SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET);
  }
}

std::string describe_error(int reason) {
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_UNEXPECTED_MESSAGE:
    case SSL_R_BAD_RECORD_TYPE:
      return "the data from the server is not TLS";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
      return "the server does not speak TLS 1.2 or later";
    case SSL_R_UNEXPECTED_EOF_WHILE_READING:
      return "the connection ended without a close_notify, so data may be missing";
    case SSL_R_BAD_SIGNATURE:
    case SSL_R_DIGEST_CHECK_FAILED:
      return "the server does not have the key of its certificate";
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
      return "the data from the server was changed on the way";
    default:
      break;
  }
  const char* const text = ERR_reason_error_string(cause());
  return text != nullptr ? text : "the connection failed";
}

}  // namespace

bool is_refusal(Progress progress) {
  const unsigned long code = cause();
  const int reason = ERR_GET_REASON(code);
  if (ERR_GET_LIB(code) != ERR_LIB_SSL || progress == Progress::answered) return false;
  if (reason >= SSL_AD_REASON_OFFSET) return refuses(reason);
  return progress == Progress::handshaking && reason != SSL_R_UNEXPECTED_EOF_WHILE_READING &&
         reason != SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC;
}

std::string describe_failure(ssl_st* ssl, const std::string& name, Progress progress) {
  const bool refused = is_refusal(progress);
  const unsigned long code = cause();
  const int reason = ERR_GET_REASON(code);
  const bool of_ssl = ERR_GET_LIB(code) == ERR_LIB_SSL;
  const std::string& verdict_text = notes_of(ssl).verdict;
  const long verdict = SSL_get_verify_result(ssl);
  std::string text = "TLS: ";
  if (!verdict_text.empty()) {
    text += verdict_text;
  } else if (verdict != X509_V_OK) {
    text += describe_certificate(verdict, name);
  } else if (of_ssl && reason >= SSL_AD_REASON_OFFSET) {
    text += describe_alert(reason, refused);
  } else if (of_ssl && reason == SSL_R_UNEXPECTED_EOF_WHILE_READING &&
             progress == Progress::handshaking) {
    text += "the server ended the connection during the handshake";
  } else {
    text += describe_error(of_ssl ? reason : 0);
  }
  ERR_clear_error();
  return text;
}

}  // namespace sheaf::socket::tls
