// Resumed sessions.

#include "socket/tls/tls_tickets.h"

#include "tests/socket/tls/tls_talk.h"

namespace sheaf::socket::tls {
namespace {

class TlsTicketsTest : public TlsTalkTest {
 protected:
  // Connects and takes what the server gives. True if the server resumed a session.
  bool connect(const std::shared_ptr<const TlsContext>& context, const std::string& whose,
               Now when) const {
    MemoryServer peer(terms);
    TlsSession session(context, "broker.example", whose);
    session.start(when);
    talk(session, peer);
    EXPECT_EQ(session.state(), State::open) << session.failure();
    EXPECT_EQ(read_all(session), "");
    const bool resumed = SSL_session_reused(peer.raw()) == 1;
    EXPECT_EQ(session.resumes(), resumed);
    EXPECT_EQ(session.certificate_end(), std::chrono::seconds(test::certificate_time + test::day));
    session.close();
    talk(session, peer);
    return resumed;
  }
  ServerTerms terms{.identity = &server, .tickets = true};
};

TEST_F(TlsTicketsTest, ASecondConnectionResumesTheSessionOfTheFirst) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    terms.version = version;
    const auto context = open(trusting(ca));
    EXPECT_FALSE(connect(context, "broker.example:8883", now));
    EXPECT_TRUE(connect(context, "broker.example:8883", now));
    EXPECT_TRUE(connect(context, "broker.example:8883", now)) << "each gives a new ticket";
    EXPECT_FALSE(connect(context, "broker.example:8884", now)) << "of another server";
    EXPECT_FALSE(connect(open(trusting(ca)), "broker.example:8883", now)) << "other files";
  }
}

TEST_F(TlsTicketsTest, NoSessionIsResumedWhenItsCertificateHasEnded) {
  const auto context = open(trusting(ca));
  EXPECT_FALSE(connect(context, "broker.example:8883", now));
  MemoryServer peer(terms);
  TlsSession session(context, "broker.example", "broker.example:8883");
  session.start(at(test::certificate_time + test::day + 1));
  talk(session, peer);
  EXPECT_FALSE(session.resumes());
  EXPECT_EQ(session.state(), State::failed);
}

TEST_F(TlsTicketsTest, NothingIsKeptOfAServerThatIsDistrusted) {
  const auto context = open(trusting(ca));
  context->tickets().distrust("broker.example:8883");
  EXPECT_FALSE(connect(context, "broker.example:8883", now));
  EXPECT_FALSE(connect(context, "broker.example:8883", now));
}

}  // namespace
}  // namespace sheaf::socket::tls
