// A real mosquitto with the files of samples/mosquitto: which clients get in, and what they may do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <sheaf/client.h>
#include <sheaf/locker.h>

#include "tests/live/plugin/store_client.h"
#include "tests/live/tls/real_servers.h"
#include "tests/samples/shipped.h"
#include "tests/support/tls/tls_wire.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

template <class Failed>
void expect_refused(const Failed& result) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::refused) << result.error().message();
  EXPECT_EQ(result.error().reason, Reason::not_authorized) << result.error().message();
}

void expect_value(Client& client, std::string_view key, std::string_view value) {
  const auto got = client.get(key);
  ASSERT_TRUE(got) << got.error().message();
  ASSERT_TRUE(*got);
  EXPECT_EQ((*got)->data, value);
}

TEST(MosquittoSample, AClientWithACertificateWorksWithinItsRights) {
  const ShippedBroker& broker = ShippedBroker::shared();
  Client press = broker.open("press");
  Client planner = broker.open("planner");
  auto watch = planner.watch("line4/speed");
  ASSERT_TRUE(watch);
  EXPECT_EQ(watch->next({.wait = 20s})->value().kind, WatchEvent::Kind::current);
  const auto set = press.set("line4/speed", "21");
  ASSERT_TRUE(set) << set.error().message();
  const WatchEvent event = watch->next({.wait = 20s})->value();
  EXPECT_EQ(event.kind, WatchEvent::Kind::set);
  EXPECT_EQ(event.value, "21");
  expect_value(planner, "line4/speed", "21");

  auto lock = Locker(press).try_lock("press7");
  ASSERT_TRUE(lock.held()) << lock.error().message();
  const auto written = lock->write("line4/heat", "7", {.other_node = true});
  EXPECT_TRUE(written) << written.error().message();
  EXPECT_TRUE(lock->remove("line4/heat", {.other_node = true}));
  EXPECT_TRUE(lock->release().value());
  EXPECT_TRUE(press.remove("line4/speed"));
}

TEST(MosquittoSample, WhatTheRightsDoNotGiveIsRefused) {
  const ShippedBroker& broker = ShippedBroker::shared();
  const std::size_t logged = broker.log().size();
  Client press = broker.open("press");
  Client planner = broker.open("planner");
  Client stranger = broker.open("stranger");  // has a certificate, but no entry in the file
  expect_refused(press.set("line5/speed", "21"));
  expect_refused(planner.set("line4/speed", "21"));
  expect_refused(stranger.get("line4/speed"));
  const auto open = stranger.get("public/motd");
  EXPECT_TRUE(open) << open.error().message();
  EXPECT_TRUE(Locker(planner).try_lock("press7").failed());
  EXPECT_THAT(broker.log().substr(logged), HasSubstr("not authorized: user \"press\""));
  StoreClient raw(broker.port(), broker.raw("press"));
  EXPECT_EQ(raw({"SET", "line5/speed", "21"}), "-ERR not authorized\r\n");
}

TEST(MosquittoSample, NobodyGetsInWithoutACertificateOfItsAuthority) {
  const ShippedBroker& broker = ShippedBroker::shared();
  TlsPaths none = Credentials::shared().client();
  none.certificate.clear();
  auto without = Client::open(broker.uri(none)).value();
  EXPECT_THAT(without.get("public/motd").error().text,
              HasSubstr("the server requires a client certificate; set tls_cert and tls_key"));

  const Identity other = make_authority_now("another authority");
  const TlsPaths forged =
      Credentials::shared().write("forged", make_identity(valid_now("press"), &other));
  auto stranger = Client::open(broker.uri(forged)).value();
  EXPECT_THAT(stranger.get("line4/speed").error().text,
              HasSubstr("does not trust the authority of our certificate"));

  ConnectOptions plain;
  plain.client_id = "press-1";
  plain.user = "press";
  EXPECT_THROW(MqttClient(broker.port(), plain), std::runtime_error);
}

TEST(MosquittoSample, Tls11IsNotTaken) {
  const TlsWireTerms tls11{.paths = certificate_of("press"), .newest = TLS1_1_VERSION};
  const TlsWireTerms tls12{.paths = certificate_of("press"), .newest = TLS1_2_VERSION};
  const ShippedBroker& broker = ShippedBroker::shared();
  EXPECT_THROW(connect_tls(broker.port(), tls11), std::runtime_error);
  EXPECT_NO_THROW(connect_tls(broker.port(), tls12));

  // These lines of the file refuse it.
  ShippedTerms terms;
  terms.configuration = [](const std::string& text) {
    return with_line(with_line(text, "tls_version tlsv1.2", "tls_version tlsv1.1"),
                     "ciphers ECDHE+AESGCM:ECDHE+CHACHA20", "ciphers ALL:@SECLEVEL=0");
  };
  const OpensslRules lax_openssl({.lax = true});
  const ShippedBroker lax(terms);
  EXPECT_NO_THROW(connect_tls(lax.port(), tls11));
}

TEST(MosquittoSample, CiphersOfTls12HaveForwardSecrecy) {
  const ShippedBroker& broker = ShippedBroker::shared();
  TlsWireTerms terms{.paths = certificate_of("press"), .newest = TLS1_2_VERSION};
  terms.ciphers = "ECDHE-ECDSA-AES256-SHA";  // CBC
  EXPECT_THROW(connect_tls(broker.port(), terms), std::runtime_error);
  terms.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256";
  EXPECT_NO_THROW(connect_tls(broker.port(), terms));
}

// True if a client that subscribes to everything receives a notification that another client forges
// by a will.
bool forged_by_a_will_arrives(const ShippedBroker& broker) {
  const std::size_t logged = broker.log().size();
  StoreClient victim(broker.port(), broker.raw("press"));
  EXPECT_LE(victim.mqtt().subscribe("clients/#"), 1);
  ConnectOptions forger = broker.raw("stranger");
  forger.will = Will{notification_topic("press-1", "line4/speed"), "*2\r\n$6\r\nNOTIFY\r\n"};
  MqttClient(broker.port(), forger).drop();
  // The broker logs it and sends the will in the same turn of its loop.
  wait_for_condition("the forger is gone", [&] {
    return broker.log().find("Client stranger-1 ", logged) != std::string::npos;
  });
  return !victim.no_notification();
}

std::string with_wide_rule(const std::string& acl) { return acl + "pattern readwrite #\n"; }

const ShippedBroker& broker_with_wide_rule() {
  static const ShippedBroker broker = [] {
    ShippedTerms wide;
    wide.acl = with_wide_rule;
    return ShippedBroker(wide);
  }();
  return broker;
}

TEST(MosquittoSample, ANotificationForgedByAWillDoesNotArrive) {
  EXPECT_FALSE(forged_by_a_will_arrives(ShippedBroker::shared()));
  EXPECT_FALSE(forged_by_a_will_arrives(broker_with_wide_rule()));

  ShippedTerms without;
  without.acl = [](const std::string& acl) {
    return with_line(with_wide_rule(acl), "pattern deny " + std::string(store_tree) + "/#", "");
  };
  EXPECT_TRUE(forged_by_a_will_arrives(ShippedBroker(without)));
}

TEST(MosquittoSample, OtherTopicsAreNeitherWrittenNorRead) {
  const ShippedBroker& broker = ShippedBroker::shared();
  MqttClient press(broker.port(), broker.raw("press"));
  for (const char* filter : {"#", "$SYS/#", "$sheaf/#", "statestore/#"}) press.subscribe(filter);
  MqttClient planner(broker.port(), broker.raw("planner"));
  for (const char* topic : {"other", "$sheaf/statestore/sink", "$SYS/broker/uptime"}) {
    Outgoing message;
    message.topic = topic;
    EXPECT_EQ(planner.wait_puback(planner.send(message)), 0x87) << topic;
  }
  StoreClient operations(broker.port(), broker.raw("operator"));
  EXPECT_EQ(operations({"SET", "sheaf/clock/operator-1", "1"}), "+OK\r\n");
  EXPECT_TRUE(press.nothing_arrives());

  // With a wide rule the same subscription gets the message.
  const ShippedBroker& wide = broker_with_wide_rule();
  MqttClient reader(wide.port(), wide.raw("press"));
  reader.subscribe("#");
  MqttClient writer(wide.port(), wide.raw("planner"));
  Outgoing message;
  message.topic = "other";
  EXPECT_EQ(writer.wait_puback(writer.send(message)), 0);
  EXPECT_TRUE(reader.receive());
}

TEST(MosquittoSample, NothingIsRetained) {
  const ShippedBroker& broker = ShippedBroker::shared();
  MqttClient press(broker.port(), broker.raw("press"));
  Outgoing message;
  message.topic = store_request;
  message.retain = true;
  press.send(message);
  EXPECT_EQ(press.wait_end(), 0x9A);
}

TEST(MosquittoSample, ValuesOutliveAKillOfTheBroker) {
  ShippedBroker& broker = ShippedBroker::shared();
  Client press = broker.open("press");
  for (int i = 0; i < 20; ++i) {
    const auto set = press.set("line4/speed", std::to_string(i));
    ASSERT_TRUE(set) << set.error().message();
  }
  broker.process().kill();
  broker.process().restart();
  wait_for_condition("the node is back", [&] { return press.get("line4/speed").has_value(); });
  expect_value(press, "line4/speed", "19");
  EXPECT_TRUE(press.remove("line4/speed"));
}

TEST(MosquittoSample, AValueOfTheLargestSizeIsTaken) {
  const ShippedBroker& broker = ShippedBroker::shared();
  Client press = broker.open("press");
  // The whole byte quota of the user press, minus the key.
  const std::string key = "line4/picture";
  const std::string value((16u << 20) - key.size(), 'x');
  const auto set = press.set(key, value);
  ASSERT_TRUE(set) << set.error().message();
  expect_value(press, key, value);
  const auto over = press.set(key, value + "x");
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().reason, Reason::quota) << over.error().message();
  EXPECT_TRUE(press.remove(key));
}

TEST(MosquittoSample, AReloadReadsRightsAndCertificatesAgain) {
  const ShippedBroker& broker = ShippedBroker::shared();
  Client stranger = broker.open("stranger");
  expect_refused(stranger.get("line4/speed"));
  const auto before = stranger.stats().at(0).certificate_end;
  CertificateTerms terms = valid_now("server");
  terms.ends += 7 * day;
  const Identity next = make_identity(terms, &Credentials::shared().authority());
  broker.replace("broker.pem", next.certificate_pem());
  broker.replace("broker.key", next.key_pem());
  broker.replace("rights.json", R"({"users": {"stranger": {"keys": {"line4/*": ["read"]}}}})");
  broker.reload();
  const auto got = stranger.get("line4/speed");
  EXPECT_TRUE(got) << got.error().message();
  EXPECT_EQ(stranger.stats().at(0).certificate_end, before);  // its connection has not ended
  Client later = broker.open("stranger");
  EXPECT_TRUE(later.get("line4/speed"));
  ASSERT_TRUE(before && later.stats().at(0).certificate_end);
  EXPECT_GT(*later.stats().at(0).certificate_end, *before + 24h);
  broker.restore();
  broker.reload();
  expect_refused(stranger.get("line4/speed"));
}

}  // namespace
}  // namespace sheaf::test
