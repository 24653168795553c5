"""A client as the SDKs of Azure IoT Operations make one from the environment of a pod: MQTT 5 over
TLS, with the token as authentication data, and requests to the state store. From the standard
library alone, so it shares no code with sheaf."""

import os
import socket
import ssl
import time

import harness

STORE = "FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8"
METHOD = b"K8S-SAT"
CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, AUTH = 1, 2, 3, 4, 8, 9, 15
REAUTHENTICATE = 0x19
NOT_AUTHORIZED = 0x87


class Refused(Exception):
    """The reason code of a CONNACK or DISCONNECT."""


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def number(value):
    """A variable byte integer."""
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def text(value):
    value = os.fsencode(value) if isinstance(value, str) else value
    return len(value).to_bytes(2, "big") + value


def login(token):
    """The properties of an enhanced authentication."""
    return b"\x15" + text(METHOD) + b"\x16" + text(token)


def command(*words):
    words = [os.fsencode(word) if isinstance(word, str) else word for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


class PodClient:
    """`more`: properties and payload of CONNECT for tests; a token that is None is not sent."""

    def __init__(self, environment, name=None, token=b"", bundle=None, user=b""):
        self.environment = environment
        self.name = name or environment["AIO_MQTT_CLIENT_ID"]
        self.notifications = []
        self.packets = 0
        self.socket = self.connect(bundle)
        self.stream = self.socket.makefile("rb")
        try:
            self.log_in(self.token() if token == b"" else token, user)
        except BaseException:
            self.close()
            raise
        self.answers = "clients/%s/services/statestore/v1/%s/command/invoke/response" % (
            self.name, STORE)
        for topic in (self.answers, "clients/statestore/v1/%s/%s/command/notify/#" % (
                STORE, self.name.encode().hex().upper())):
            self.subscribe(topic)

    def connect(self, bundle):
        host = self.environment["AIO_BROKER_HOSTNAME"]
        plain = socket.create_connection((host, int(self.environment["AIO_BROKER_TCP_PORT"])),
                                         timeout=harness.LONGEST)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.environment["AIO_MQTT_USE_TLS"] != "true":
            return plain
        bundle = bundle or read_file(self.environment["AIO_TLS_CA_FILE"])
        context = ssl.create_default_context(cadata=bundle.decode())
        try:
            return context.wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stream.close()
        self.socket.close()

    def token(self):
        path = self.environment.get("AIO_SAT_FILE")
        return read_file(path) if path else None

    def certificate(self):
        """The broker's, as bytes."""
        return self.socket.getpeercert(binary_form=True)

    # Packets.

    def send(self, kind, body):
        self.socket.sendall(bytes([kind]) + number(len(body)) + body)

    def receive(self):
        """The type, the flags and the body of the next packet."""
        first = self.stream.read(1)
        size, shift = 0, 0
        while first:
            byte = self.stream.read(1)[0]
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return first[0] >> 4, first[0] & 15, self.stream.read(size)
        raise Refused("the connection has ended")

    def wait_for(self, wanted):
        while True:
            kind, flags, body = self.receive()
            if kind == PUBLISH:
                self.take_publish(flags, body)
            elif kind == wanted:
                return body
            elif kind not in (PUBACK, SUBACK):
                raise Refused(body[0] if body else kind)

    def log_in(self, token, user):
        properties = b"\x11" + (3600).to_bytes(4, "big") + b"\x21\xff\xff"
        properties += login(token) if token is not None else b""
        flags = 0x02 | (0x80 if user else 0)
        self.send(CONNECT << 4, text("MQTT") + bytes([5, flags, 0, 60]) + number(len(properties)) +
                  properties + text(self.name) + (text(user) if user else b""))
        reason = self.wait_for(CONNACK)[1]
        if reason:
            raise Refused(reason)

    def show(self, token):
        """A new token on the connection."""
        properties = login(token)
        self.send(AUTH << 4, bytes([REAUTHENTICATE]) + number(len(properties)) + properties)
        reason = self.wait_for(AUTH)
        if reason and reason[0]:
            raise Refused(reason[0])

    def subscribe(self, topic):
        self.packets += 1
        self.send(SUBSCRIBE << 4 | 2, self.packets.to_bytes(2, "big") + b"\0" + text(topic) + b"\1")
        reason = self.wait_for(SUBACK)[-1]
        if reason > 2:
            raise Refused(reason)

    def take_publish(self, flags, body):
        """Acknowledges it; returns the correlation data and the payload. Keeps notifications."""
        at = 2 + int.from_bytes(body[:2], "big")
        topic = body[2:at].decode()
        if flags >> 1 & 3:
            self.send(PUBACK << 4, body[at:at + 2])
            at += 2
        size = body[at]
        if size >= 128:
            size, at = (size & 127) + body[at + 1] * 128, at + 1
        properties, payload = body[at + 1:at + 1 + size], body[at + 1 + size:]
        if "/command/notify/" in topic:
            self.notifications.append(payload)
        return properties, payload

    # The state store.

    def ask(self, *words, fence=None):
        correlation = os.urandom(16)
        now = "%015d:00000:%s" % (time.time() * 1000, self.name)
        user = {"__protVer": "1.0", "__srcId": self.name, "__ts": now}
        if fence:
            user["__ft"] = fence
        properties = b"\x02" + (10).to_bytes(4, "big") + b"\x08" + text(self.answers)
        properties += b"\x09" + text(correlation)
        properties += b"".join(b"\x26" + text(name) + text(value) for name, value in user.items())
        self.packets += 1
        self.send(PUBLISH << 4 | 2, text("statestore/v1/%s/command/invoke" % STORE) +
                  (self.packets & 0xffff or 1).to_bytes(2, "big") + number(len(properties)) +
                  properties + command(*words))
        while True:
            kind, flags, body = self.receive()
            if kind == PUBLISH:
                properties, payload = self.take_publish(flags, body)
                if correlation in properties:
                    return payload
            elif kind != PUBACK:
                raise Refused(body[0] if body else kind)

    def next_notification(self):
        while not self.notifications:
            kind, flags, body = self.receive()
            if kind == PUBLISH:
                self.take_publish(flags, body)
        return self.notifications.pop(0)
