"""TLS and SASL, against listeners of a real broker that ask for them; certificates are made here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from streams.core.errors import LogError, UsageError
from streams.core.events import TurnRecorded
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import create
from streams.logs.settings import Settings
from tests.kafka.broker import Broker
from tests.kafka.conftest import without_broker
from tests.processes import Program, run

USER, PASSWORD = "ann", "a secret: with spaces"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True)
class Certificates:
    """PEM files of an authority, a broker and a client."""

    ca: Path
    broker: Path
    """Its key and certificate."""
    client: Path
    client_key: Path


def openssl(*words: str | Path) -> None:
    """Runs openssl, which must do well."""
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=300)


def make_certificates(folder: Path) -> Certificates:
    """An authority of our own, and what it signs."""
    ca, ca_key = folder / "ca.pem", folder / "ca.key"
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    openssl("req", "-x509", *new, "-keyout", ca_key, "-out", ca, "-subj", "/CN=authority")
    for name in ("broker", "client"):
        key, request, cert, more = (folder / f"{name}.{kind}" for kind in ("key", "csr", "pem", "ext"))
        more.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        openssl("req", *new, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        sign = ("-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2", "-extfile", more)
        openssl("x509", "-req", "-in", request, "-out", cert, *sign)
    both = folder / "both.pem"
    both.write_text((folder / "broker.key").read_text() + (folder / "broker.pem").read_text())
    return Certificates(ca, both, folder / "client.pem", folder / "client.key")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Certificates:
    """Certificates for this module's broker."""
    if shutil.which("openssl") is None:
        without_broker("there is no openssl to make certificates")
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def broker(make_broker: Callable[..., Broker], certificates: Certificates) -> Broker:
    """A broker with a listener of every kind. SSL alone asks for a certificate of the client."""
    jaas = f'required username="{USER}" password="{PASSWORD}"'
    properties = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates.broker),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.ca),
        "listener.name.ssl.ssl.client.auth": "required",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    }
    for listener in ("sasl_plaintext", "sasl_ssl"):
        properties |= {
            f"listener.name.{listener}.plain.sasl.jaas.config": f'{PLAIN} {jaas} user_{USER}="{PASSWORD}";',
            f"listener.name.{listener}.scram-sha-256.sasl.jaas.config": f"{SCRAM} required;",
            f"listener.name.{listener}.scram-sha-512.sasl.jaas.config": f"{SCRAM} required;",
        }
    scram = [
        word
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
        for word in ("--add-scram", f'{mechanism}=[name={USER},password="{PASSWORD}"]')
    ]
    listeners = ("PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL")
    return make_broker(listeners=listeners, properties=properties, format_options=scram)


def through(broker: Broker, certificates: Certificates, prefix: str, security: str, sasl: str = "PLAIN") -> Connection:
    """A connection to a listener, with all that it asks for."""
    user = (USER, PASSWORD) if security.startswith("SASL") else ("", "")
    ca = certificates.ca if security.endswith("SSL") else None
    own = (certificates.client, certificates.client_key) if security == "SSL" else (None, None)
    return Connection(broker.at(security), prefix, security, sasl, *user, ca, *own)


SECURE = [
    ("SSL", "PLAIN"),
    ("SASL_PLAINTEXT", "PLAIN"),
    ("SASL_PLAINTEXT", "SCRAM-SHA-256"),
    ("SASL_SSL", "PLAIN"),
    ("SASL_SSL", "SCRAM-SHA-512"),
]


@pytest.mark.parametrize(("security", "sasl"), SECURE)
def test_a_log_is_made_written_and_read(broker, certificates, prefix, tmp_path, security, sasl):
    connection = through(broker, certificates, prefix, security, sasl)
    create(connection, {}, 2)
    log = KafkaLog(connection, tmp_path)
    log.append([TurnRecorded("shop", "t1", 1_700_000_000_000_000, "x", "ann", "user", "Why is it slow?")])
    read = [orjson.loads(record.value)["id"] for partition in range(2) for record in log.read(partition, 0)]
    log.close()
    assert read == ["t1"]


@pytest.mark.parametrize("sasl", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password_is_told_with_a_way_out(broker, certificates, prefix, sasl):
    connection = Connection(broker.at("SASL_SSL"), prefix, "SASL_SSL", sasl, USER, "wrong", certificates.ca)
    with pytest.raises(LogError) as told:
        create(connection, {}, 1)
    assert "MNEMOLOG_KAFKA" in told.value.way_out
    assert "wrong" not in str(told.value)


def test_a_broker_that_nobody_vouches_for_is_refused(broker, prefix):
    with pytest.raises(LogError) as told:
        create(Connection(broker.at("SASL_SSL"), prefix, "SASL_SSL", "PLAIN", USER, PASSWORD), {}, 1)
    assert told.value.way_out


def test_a_client_without_the_certificate_that_is_asked_for_is_refused(broker, certificates, prefix):
    with pytest.raises(LogError):
        create(Connection(broker.at("SSL"), prefix, "SSL", ca=certificates.ca), {}, 1)


def test_certificates_that_cannot_be_read_are_told(tmp_path):
    connection = Connection("127.0.0.1:1", security="SSL", ca=tmp_path / "none.pem")
    with pytest.raises(UsageError, match="cannot be used") as told:
        connection.client()
    assert "MNEMOLOG_KAFKA_CA" in told.value.way_out


def test_a_key_that_is_encrypted_is_told_and_nothing_is_asked_for(certificates, tmp_path):
    locked = tmp_path / "locked.key"
    openssl("pkey", "-in", certificates.client_key, "-out", locked, "-aes256", "-passout", "pass:secret")
    connection = Connection("h:1", security="SSL", ca=certificates.ca, cert=certificates.client, key=locked)
    with pytest.raises(UsageError, match="is encrypted") as told:
        connection.client()
    assert "without a password" in told.value.way_out


def test_a_password_may_stand_in_a_file(monkeypatch, tmp_path):
    (tmp_path / "password").write_text(PASSWORD + "\n")
    for name, value in {"": "h:1", "_SECURITY": "SASL_SSL", "_USER": USER}.items():
        monkeypatch.setenv(f"MNEMOLOG_KAFKA{name}", value)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PASSWORD_FILE", str(tmp_path / "password"))
    assert Connection.of(Settings()).password == PASSWORD
    monkeypatch.setenv("MNEMOLOG_KAFKA_PASSWORD_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="cannot be read"):
        Connection.of(Settings())


def test_a_password_is_never_shown():
    assert PASSWORD not in repr(Connection("h:1", security="SASL_SSL", user=USER, password=PASSWORD))


def test_a_setting_that_cannot_be_is_told_by_its_name(monkeypatch):
    monkeypatch.setenv("MNEMOLOG_KAFKA_SECURITY", "TLS")
    with pytest.raises(UsageError, match=r"MNEMOLOG_KAFKA_SECURITY: .*SASL_SSL") as told:
        Settings()
    assert "MNEMOLOG_KAFKA_SECURITY" in told.value.way_out


def environment(connection: Connection, home: Path) -> dict[str, str]:
    """The settings of a connection, as users give them."""
    said = {
        "KAFKA": connection.servers,
        "KAFKA_PREFIX": connection.prefix,
        "KAFKA_SECURITY": connection.security,
        "KAFKA_SASL": connection.sasl,
        "KAFKA_USER": connection.user,
        "KAFKA_PASSWORD": connection.password,
        "KAFKA_CA": str(connection.ca or ""),
        "KAFKA_CERT": str(connection.cert or ""),
        "KAFKA_KEY": str(connection.key or ""),
        "HOME": str(home),
    }
    return os.environ | {f"MNEMOLOG_{name}": value for name, value in said.items() if value}


@pytest.mark.parametrize(("security", "sasl"), [("SSL", "PLAIN"), ("SASL_SSL", "SCRAM-SHA-512")])
def test_workers_and_commands_take_it_from_the_environment(broker, certificates, prefix, tmp_path, security, sasl):
    environ = environment(through(broker, certificates, prefix, security, sasl), tmp_path / "home")

    def mnemolog(*words: str, given: str = "") -> str:
        ran = run(*words, env=environ, input=given, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    mnemolog("topics", "create", "--partitions", "1")
    mnemolog("feed", "-", given='{"id": "t1", "session": "x", "role": "user", "content": "Why is it slow?"}\n')
    log = (tmp_path / "worker.log").open("w+")
    folding = ("worker", "manifest", "--store", "memory", "--datadir", tmp_path / "worker")
    worker = Program(*folding, env=environ, stdout=log, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 300
        made = 0
        while not made and time.monotonic() < deadline:
            assert worker.poll() is None, (tmp_path / "worker.log").read_text()
            time.sleep(0.5)
            topics = [orjson.loads(line) for line in mnemolog("topics", "--json").splitlines()]
            made = sum(t["records"] for t in topics if t.get("topic", "").startswith(f"{prefix}.derived."))
        assert made, (tmp_path / "worker.log").read_text()
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(300) == 0, (tmp_path / "worker.log").read_text()
    finally:
        worker.kill()
        worker.wait()
        log.close()
