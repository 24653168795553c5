#include "socket/tls/tls_failures.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace sheaf::socket::tls {
namespace {

bool refuses(int reason, Progress progress) {
  ERR_clear_error();
  ERR_raise(ERR_LIB_SSL, reason);
  const bool refused = is_refusal(progress);
  ERR_clear_error();
  return refused;
}

TEST(TlsFailures, AnAlertIsARefusalUntilTheFirstAnswerOnly) {
  for (const int alert :
       {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, SSL_R_TLSV1_ALERT_UNKNOWN_CA,
        SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
        SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, SSL_R_TLSV1_ALERT_ACCESS_DENIED,
        SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION}) {
    EXPECT_TRUE(refuses(alert, Progress::handshaking)) << alert;
    EXPECT_TRUE(refuses(alert, Progress::unanswered)) << alert;
    EXPECT_FALSE(refuses(alert, Progress::answered)) << alert;
  }
}

TEST(TlsFailures, AnAlertAboutRecordsIsNone) {
  for (const int alert : {SSL_R_TLSV1_ALERT_DECODE_ERROR, SSL_R_SSLV3_ALERT_BAD_RECORD_MAC,
                          SSL_R_TLSV1_ALERT_RECORD_OVERFLOW, SSL_R_SSLV3_ALERT_UNEXPECTED_MESSAGE,
                          SSL_R_TLSV1_ALERT_INTERNAL_ERROR, SSL_R_TLSV1_ALERT_USER_CANCELLED}) {
    for (const Progress progress :
         {Progress::handshaking, Progress::unanswered, Progress::answered}) {
      EXPECT_FALSE(refuses(alert, progress)) << alert;
    }
  }
}

TEST(TlsFailures, OurOwnJudgementIsOneInTheHandshakeOnly) {
  for (const int reason : {SSL_R_CERTIFICATE_VERIFY_FAILED, SSL_R_WRONG_VERSION_NUMBER}) {
    EXPECT_TRUE(refuses(reason, Progress::handshaking)) << reason;
    EXPECT_FALSE(refuses(reason, Progress::unanswered)) << reason;
  }
  for (const int reason :
       {SSL_R_UNEXPECTED_EOF_WHILE_READING, SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC}) {
    EXPECT_FALSE(refuses(reason, Progress::handshaking)) << reason;
  }
  ERR_clear_error();
  EXPECT_FALSE(is_refusal(Progress::handshaking)) << "no error of TLS, a cut";
}

}  // namespace
}  // namespace sheaf::socket::tls
