#include "socket/tls/tls_session.h"

#include <cstring>

#include "tests/socket/tls/tls_talk.h"

namespace sheaf::socket::tls {
namespace {

class TlsSessionTest : public TlsTalkTest {
 protected:
  // How the handshake with such a server fails.
  std::string failure(const ServerTerms& terms, const std::string& host = "broker.example") const {
    MemoryServer peer(terms);
    const auto session = start(trusting(ca), host);
    talk(*session, peer);
    EXPECT_EQ(session->state(), State::failed);
    EXPECT_EQ(write(*session, "secret"), 0u);
    EXPECT_EQ(peer.received, "");
    return session->failure();
  }
  std::string failure_of(const test::CertificateTerms& terms) const {
    const test::Identity shown = test::make_identity(terms, &ca);
    return failure({.identity = &shown, .weak = true});
  }
};

TEST_F(TlsSessionTest, WhatOneSaysTheOtherHears) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    MemoryServer peer({.identity = &server, .version = version});
    const auto session = start(trusting(ca));
    EXPECT_EQ(write(*session, "too early"), 0u);
    talk(*session, peer);
    ASSERT_EQ(session->state(), State::open) << session->failure();
    EXPECT_STREQ(SSL_get_servername(peer.raw(), TLSEXT_NAMETYPE_host_name), "broker.example");
    const Bytes parts[] = {as_bytes("hel"), {}, as_bytes("lo")};
    EXPECT_EQ(session->write(parts), 5u);
    talk(*session, peer);
    EXPECT_EQ(peer.received, "hello");
    peer.say("world");
    feed(*session, peer.give());
    EXPECT_EQ(read_all(*session), "world");
    EXPECT_EQ(session->state(), State::open);
  }
}

TEST_F(TlsSessionTest, TheEndOfTheServersCertificateIsKnownOnceItIsOpen) {
  const auto session = start(trusting(ca));
  EXPECT_EQ(session->certificate_end(), std::nullopt);
  MemoryServer peer({.identity = &server});
  talk(*session, peer);
  EXPECT_EQ(session->certificate_end(), std::chrono::seconds(test::certificate_time + test::day));
}

TEST_F(TlsSessionTest, ASplitAtAnyByteChangesNothing) {
  const auto context = open(trusting(ca));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    // Lengths of signatures differ between handshakes, so the loop finds the end as it comes.
    bool split = true;
    for (std::size_t at = 1; split; ++at) {
      MemoryServer peer({.identity = &server, .version = version});
      const auto session = start(context);
      std::size_t passed = 0;
      split = false;
      const auto to_client = [&](std::string bytes) {
        if (passed < at && at < passed + bytes.size()) {
          feed(*session, bytes.substr(0, at - passed));
          peer.take(drain(*session));
          feed(*session, bytes.substr(at - passed));
          split = true;
        } else {
          feed(*session, bytes);
          split = split || at == passed + bytes.size();
        }
        passed += bytes.size();
      };
      for (int i = 0; i < 4; ++i) {
        peer.take(drain(*session));
        to_client(peer.give());
      }
      ASSERT_EQ(session->state(), State::open) << at << ": " << session->failure();
      peer.say("hello");
      peer.close();
      to_client(peer.give());
      ASSERT_EQ(read_all(*session), "hello") << at;
      ASSERT_EQ(session->state(), State::ended) << at;
    }
  }
}

TEST_F(TlsSessionTest, OneByteAtATimeIsAsGoodAsAllAtOnce) {
  MemoryServer peer({.identity = &server});
  const auto session = start(trusting(ca));
  std::string heard;
  const auto exchange = [&] {
    for (bool more = true; more;) {
      const Bytes up = session->output();
      more = !up.empty();
      if (more) {
        peer.take(as_text(up.first(1)));
        session->on_output(1);
      }
      const std::string down = peer.give(1);
      more = more || !down.empty();
      feed(*session, down);
      heard += read_all(*session);
    }
  };
  exchange();
  ASSERT_EQ(session->state(), State::open) << session->failure();
  EXPECT_EQ(write(*session, std::string(3000, 'u')), 3000u);
  peer.say(std::string(3000, 'd'));
  exchange();
  EXPECT_EQ(peer.received, std::string(3000, 'u'));
  EXPECT_EQ(heard, std::string(3000, 'd'));
}

TEST_F(TlsSessionTest, MoreThanTheBufferIsTakenInPartsAndInOrder) {
  MemoryServer peer({.identity = &server});
  const auto session = start(trusting(ca));
  talk(*session, peer);
  std::string text;
  for (int i = 0; text.size() < 200'000; ++i) text += std::to_string(i) + ",";
  std::size_t sent = 0;
  int calls = 0;
  for (; sent < text.size(); ++calls) {
    // Parts whose sizes are not multiples of a record.
    const std::string_view rest = std::string_view(text).substr(sent);
    const Bytes parts[] = {as_bytes(rest.substr(0, 10'000)),
                           as_bytes(rest.size() > 10'000 ? rest.substr(10'000) : "")};
    const std::size_t taken = session->write(parts);
    ASSERT_GT(taken, 0u);
    ASSERT_LE(taken, 40'000u) << "the buffer is bounded";
    sent += taken;
    if (sent < text.size()) {
      EXPECT_EQ(write(*session, std::string(20'000, 'x')), 0u) << "it is full";
    }
    talk(*session, peer);
  }
  EXPECT_GT(calls, 4);
  EXPECT_TRUE(peer.received == text);
}

TEST_F(TlsSessionTest, WhoDoesNotReadStopsThePeer) {
  MemoryServer peer({.identity = &server});
  const auto session = start(trusting(ca));
  talk(*session, peer);
  peer.say(std::string(100'000, 'x'));
  const std::string bytes = peer.give();
  std::size_t fed = 0;
  std::string heard;
  while (fed < bytes.size()) {
    const auto space = session->input_space();
    ASSERT_LE(space.size(), 20'000u);
    if (space.empty()) {
      EXPECT_TRUE(session->unread());
      heard += read_all(*session);
      continue;
    }
    const std::size_t size = std::min(space.size(), bytes.size() - fed);
    std::memcpy(space.data(), bytes.data() + fed, size);
    session->on_input(size);
    fed += size;
  }
  EXPECT_EQ(heard + read_all(*session), std::string(100'000, 'x'));
}

TEST_F(TlsSessionTest, AnOrderlyEndIsNoFailureAndACutIsOne) {
  for (const bool orderly : {true, false}) {
    MemoryServer peer({.identity = &server});
    const auto session = start(trusting(ca));
    talk(*session, peer);
    peer.say("last words");
    if (orderly) peer.close();
    feed(*session, peer.give());
    session->on_eof();
    EXPECT_EQ(read_all(*session), "last words");
    EXPECT_EQ(session->state(), orderly ? State::ended : State::failed);
    EXPECT_EQ(
        session->failure(),
        orderly ? "" : "TLS: the connection ended without a close_notify, so data may be missing");
  }
}

TEST_F(TlsSessionTest, ClosingTellsThePeer) {
  MemoryServer peer({.identity = &server});
  const auto session = start(trusting(ca));
  talk(*session, peer);
  EXPECT_EQ(write(*session, "bye"), 3u);
  session->close();
  talk(*session, peer);
  EXPECT_EQ(peer.received, "bye");
  EXPECT_TRUE(peer.closed);
}

TEST_F(TlsSessionTest, AClientShowsItsCertificateToAServerThatWantsIt) {
  const test::Identity me = test::make_identity({.subject = "me", .names = ""}, &ca);
  TlsOptions options = trusting(ca);
  MemoryServer strict({.identity = &server, .client_ca = &ca});
  const auto without = start(options);
  talk(*without, strict);
  EXPECT_EQ(read_all(*without), "");
  EXPECT_EQ(without->failure(),
            "TLS: the server requires a client certificate; set tls_cert and tls_key");
  options.certificate_file = file("me.pem", me.certificate_pem());
  options.key_file = file("me.key", me.key_pem());
  MemoryServer peer({.identity = &server, .client_ca = &ca});
  const auto with = start(options);
  talk(*with, peer);
  EXPECT_EQ(write(*with, "it is me"), 8u);
  talk(*with, peer);
  EXPECT_EQ(peer.received, "it is me");
}

TEST_F(TlsSessionTest, AProtocolIsOfferedIfItIsAskedFor) {
  TlsOptions options = trusting(ca);
  options.protocol = "mqtt";
  MemoryServer peer({.identity = &server});
  const auto session = start(options);
  talk(*session, peer);
  EXPECT_EQ(session->state(), State::open) << session->failure();
  EXPECT_EQ(peer.offered, "\4mqtt");
}

TEST_F(TlsSessionTest, NamesAndAddressesAreVerifiedAndTheOptionGoesFirst) {
  const ServerTerms terms{.identity = &server};
  EXPECT_EQ(failure(terms, "other.example"),
            "TLS: the server's certificate is not for other.example");
  EXPECT_EQ(failure(terms, "127.0.0.2"), "TLS: the server's certificate is not for 127.0.0.2");
  MemoryServer by_address(terms);
  const auto address = start(trusting(ca), "127.0.0.1");
  talk(*address, by_address);
  EXPECT_EQ(address->state(), State::open) << address->failure();
  EXPECT_EQ(SSL_get_servername(by_address.raw(), TLSEXT_NAMETYPE_host_name), nullptr);
  TlsOptions options = trusting(ca);
  options.name = "broker.example";
  MemoryServer by_option(terms);
  const auto named = start(options, "10.0.0.1");
  talk(*named, by_option);
  EXPECT_EQ(named->state(), State::open) << named->failure();
}

TEST_F(TlsSessionTest, AWildcardForAWholeTopLevelProvesNothing) {
  test::CertificateTerms terms;
  terms.names = "DNS:*.example,DNS:b*.example,DNS:*";
  EXPECT_EQ(failure_of(terms), "TLS: the server's certificate is not for broker.example");
  terms.names = "DNS:broker.example.other";
  EXPECT_EQ(failure_of(terms), "TLS: the server's certificate is not for broker.example");
}

TEST_F(TlsSessionTest, AWildcardStandsForAWholeLabelAndNotForAPartOfOne) {
  const std::string host = "broker.factory.example";
  for (const std::string names : {"DNS:b*.factory.example", "DNS:*r.factory.example",
                                  "DNS:b*r.factory.example", "DNS:broker.f*.example"}) {
    const test::Identity shown = test::make_identity({.names = names}, &ca);
    EXPECT_EQ(failure({.identity = &shown}, host),
              "TLS: the server's certificate is not for " + host)
        << names;
  }
  const test::Identity whole = test::make_identity({.names = "DNS:*.factory.example"}, &ca);
  MemoryServer peer({.identity = &whole});
  const auto session = start(trusting(ca), host);
  talk(*session, peer);
  EXPECT_EQ(session->state(), State::open) << session->failure();
}

TEST_F(TlsSessionTest, ACertificateThatIsMeantForClientsIsNoServers) {
  test::CertificateTerms terms;
  terms.usage = "clientAuth";
  EXPECT_EQ(failure_of(terms), "TLS: the server's certificate is not meant for servers");
}

TEST_F(TlsSessionTest, TimesAreJudgedByTheTimeThatIsGiven) {
  test::CertificateTerms terms;
  terms.ends = test::certificate_time - 1;
  EXPECT_EQ(failure_of(terms),
            "TLS: the server's certificate has expired: it ended at "
            "2025-12-31 23:59:59 UTC");
  terms = {};
  terms.begins = test::certificate_time + 1;
  EXPECT_EQ(failure_of(terms),
            "TLS: the server's certificate is not valid yet: it begins at "
            "2026-01-01 00:00:01 UTC");
}

TEST_F(TlsSessionTest, WeakKeysAndHashesAreRefused) {
  EXPECT_EQ(failure_of({.rsa_bits = 1024}), "TLS: the key of the server's certificate is too weak");
  EXPECT_EQ(failure_of({.hash = "SHA1"}),
            "TLS: the server's certificate is signed with a hash that is too weak");
}

TEST_F(TlsSessionTest, AServerThatHasNotTheKeyOfItsCertificateIsRefused) {
  test::Identity shown = test::make_identity({}, &ca);
  shown.key = test::make_impostor(shown);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    EXPECT_EQ(failure({.identity = &shown, .version = version}),
              "TLS: the server does not have the key of its certificate");
  }
}

TEST_F(TlsSessionTest, WhoIsSignedByNobodyTrustedIsRefused) {
  const test::Identity self = test::make_identity({}, nullptr);
  EXPECT_EQ(failure({.identity = &self}),
            "TLS: the server's certificate is self-signed and not trusted");
  const test::Identity stranger = test::make_authority("stranger");
  const test::Identity strange = test::make_identity({}, &stranger);
  EXPECT_EQ(failure({.identity = &strange, .chain = &stranger}),
            "TLS: the server's certificate comes from an authority that is not trusted");
  // The same name, but another key.
  const test::Identity impostor = test::make_authority("test authority");
  const test::Identity forged = test::make_identity({}, &impostor);
  EXPECT_EQ(failure({.identity = &forged}),
            "TLS: the server's certificate was not signed by the authority that it names");
}

TEST_F(TlsSessionTest, AChainMayBeLongButNotIncomplete) {
  const test::Identity middle = test::make_authority("middle", &ca);
  const test::Identity leaf = test::make_identity({}, &middle);
  EXPECT_EQ(failure({.identity = &leaf}),
            "TLS: the server's certificate chain leads to no trusted authority or is incomplete");
  MemoryServer peer({.identity = &leaf, .chain = &middle});
  const auto session = start(trusting(ca));
  talk(*session, peer);
  EXPECT_EQ(session->state(), State::open) << session->failure();
}

TEST_F(TlsSessionTest, OldVersionsAreRefused) {
  EXPECT_EQ(failure({.identity = &server, .version = TLS1_1_VERSION, .weak = true}),
            "TLS: the server does not speak TLS 1.2 or later");
}

TEST_F(TlsSessionTest, AServerWithoutTlsIsRefused) {
  for (const std::string_view greeting :
       {"-ERR unknown command\r\n", "ERROR\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
    const auto session = start(trusting(ca));
    feed(*session, greeting);
    EXPECT_EQ(session->failure(), "TLS: the data from the server is not TLS") << greeting;
  }
}

TEST_F(TlsSessionTest, AHandshakeThatIsCutOffFailsWhereverItIsCut) {
  const auto context = open(trusting(ca));
  MemoryServer probe({.identity = &server});
  const auto first = start(context);
  probe.take(drain(*first));
  const std::size_t size = probe.give().size();
  for (std::size_t cut = 0; cut + 16 < size; ++cut) {
    MemoryServer peer({.identity = &server});
    const auto session = start(context);
    peer.take(drain(*session));
    feed(*session, peer.give(cut));
    session->on_eof();
    ASSERT_EQ(session->failure(), "TLS: the server ended the connection during the handshake")
        << cut;
  }
}

TEST_F(TlsSessionTest, AChangedByteEndsTheConnection) {
  MemoryServer peer({.identity = &server});
  const auto session = start(trusting(ca));
  talk(*session, peer);
  peer.say("hello");
  std::string bytes = peer.give();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  feed(*session, bytes);
  EXPECT_EQ(read_all(*session), "");
  EXPECT_EQ(session->failure(), "TLS: the data from the server was changed on the way");
}

// A server to which half of the connection was closed ends the other half by an alert.
TEST_F(TlsSessionTest, AnAlertAboutTheConnectionRefusesNobody) {
  for (const bool answered : {false, true}) {
    for (const bool cut : {false, true}) {
      MemoryServer peer({.identity = &server});
      const auto session = start(trusting(ca));
      talk(*session, peer);
      if (answered) peer.say("hello");
      feed(*session, peer.give());
      EXPECT_EQ(read_all(*session), answered ? "hello" : "");
      if (cut) {
        peer.take_end();
      } else {
        peer.take(std::string("\x17\x03\x03\0\x20", 5) + std::string(32, 'x'));
      }
      feed(*session, peer.give());
      EXPECT_EQ(read_all(*session), "");
      EXPECT_EQ(session->state(), State::failed);
      EXPECT_FALSE(session->refused()) << answered << cut;
      EXPECT_EQ(session->failure(), "TLS: the server ended the connection by an alert: " +
                                        std::string(cut ? "decode error" : "bad record mac"));
    }
  }
}

TEST_F(TlsSessionTest, RenegotiationIsRefused) {
  MemoryServer peer({.identity = &server, .version = TLS1_2_VERSION});
  const auto session = start(trusting(ca));
  talk(*session, peer);
  ASSERT_EQ(SSL_renegotiate(peer.raw()), 1);
  SSL_do_handshake(peer.raw());  // requests the renegotiation
  feed(*session, peer.give());
  EXPECT_EQ(read_all(*session), "");
  const std::string answer = drain(*session);
  ASSERT_NE(answer, "");
  EXPECT_EQ(answer[0], SSL3_RT_ALERT) << "and no ClientHello, which is of type handshake";
}

}  // namespace
}  // namespace sheaf::socket::tls
