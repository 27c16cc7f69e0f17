"""A provider is known by its certificate: one that somebody who is trusted answers for, of the very name that is called."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic, sleep

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from gateway.upstream.contract import UpstreamError
from gateway.upstream.sockets.clock import Clock
from gateway.upstream.sockets.connections import adapter, trusted
from gateway.upstream.transport import post

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
BODY = b"[1]"
# What two kernels and TLS hold between them.
LARGER_THAN_BUFFERS = 32_000_000
WAITED_FOR = 10.0


def certificate(folder: Path) -> Path:
    """A certificate of localhost's that answers for itself, with its key, in one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    made = builder.sign(key, hashes.SHA256())
    path = folder / "localhost.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(secret + made.public_bytes(Encoding.PEM))
    return path


@pytest.fixture(scope="module")
def pem(tmp_path_factory) -> Path:
    return certificate(tmp_path_factory.mktemp("tls"))


class Provider:
    """One that speaks TLS on a free port; `received` is what it was sent, each time that it was believed.

    It reads nothing before `reads` is set, and where it answers `early` not to the end.
    """

    def __init__(self, pem: Path) -> None:
        self.answer = ANSWER
        self.early = b""
        self.reads = threading.Event()
        self.reads.set()
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(pem)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.received: list[bytes] = []
        self.connections = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                plain, _ = self._server.accept()
                self.connections += 1
                with suppress(OSError), plain, self._context.wrap_socket(plain, server_side=True) as caller:
                    self._answer(caller)

    def _answer(self, caller: ssl.SSLSocket) -> None:
        if self.early:
            caller.recv(100)
            caller.sendall(self.early)
            # To close with something unread takes back what is still on its way.
            sleep(0.2)
            return
        request = bytearray()
        self.reads.wait()
        while piece := caller.recv(65_536):
            request += piece
            if request.endswith(BODY):
                self.received.append(bytes(request))
                request.clear()
                caller.sendall(self.answer)


@pytest.fixture
def provider(pem) -> Iterator[Provider]:
    with closing(Provider(pem)) as listening:
        yield listening


@pytest.fixture(autouse=True)
def as_at_a_start() -> Iterator[None]:
    """Whom to trust is read once in a process, and connections are kept."""
    for made in (adapter, trusted):
        made.cache_clear()
    yield
    for made in (adapter, trusted):
        made.cache_clear()


def ask(host: str, provider: Provider, body: bytes = BODY, total: float = 5) -> bytes:
    clock = Clock(connect=5, first_token=total, total=total)
    with post(f"https://{host}:{provider.port}/v1", headers={"x-api-key": "secret"}, body=body, clock=clock) as reply:
        return b"".join(reply.blocks())


def test_one_that_an_operator_trusts_is_asked_on_a_kept_connection(pem, provider, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    assert [ask("localhost", provider) for _ in range(2)] == [b"{}", b"{}"]
    assert (len(provider.received), provider.connections) == (2, 1)


def test_one_that_nobody_answers_for_is_sent_nothing(provider):
    with pytest.raises(UpstreamError, match=r"the certificate of localhost:.* is not to be trusted: self.signed"):
        ask("localhost", provider)
    assert not provider.received


def test_one_with_the_certificate_of_another_is_sent_nothing(pem, provider, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with pytest.raises(UpstreamError, match=r"the certificate of 127.0.0.1:.* is not to be trusted"):
        ask("127.0.0.1", provider)
    assert not provider.received


# The shorter comes as one record of TLS, which is decrypted at once and read in two.
@pytest.mark.parametrize("length", [12_000, 1_000_001])
def test_what_no_buffer_holds_goes_and_comes_whole(pem, provider, monkeypatch, length):
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    body, answer = b"1" * LARGER_THAN_BUFFERS + BODY, b"x" * length
    provider.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(answer), answer)
    provider.reads.clear()
    threading.Timer(0.3, provider.reads.set).start()
    began = monotonic()
    # Both leave their connection fit for another call.
    assert [ask("localhost", provider, sent, total=2 * WAITED_FOR) for sent in (body, BODY)] == [answer, answer]
    assert [request.partition(b"\r\n\r\n")[2] for request in provider.received] == [body, BODY]
    assert provider.connections == 1
    # Nobody waits for the kernel to tell of what TLS holds.
    assert monotonic() - began < WAITED_FOR


def test_one_that_reads_nothing_is_not_written_to_for_ever(pem, provider, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    provider.reads.clear()
    with pytest.raises(UpstreamError) as failed:
        ask("localhost", provider, b"1" * LARGER_THAN_BUFFERS, total=0.4)
    assert failed.value.kind == "timeout"
    provider.reads.set()


def test_an_answer_before_the_request_is_whole_is_read(pem, provider, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    provider.early = b"HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large"
    assert ask("localhost", provider, b"1" * LARGER_THAN_BUFFERS) == b"too large"


def test_what_comes_after_an_answer_is_not_the_next_one(pem, provider, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    # In one record, which TLS has decrypted whole: the buffer of the first answer ends where the stray one begins.
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n"
    first = head + b"x" * 8000
    padded = head.replace(b"\r\n\r\n", b"\r\nX-Pad: " + b"p" * (8192 - len(first) - 9) + b"\r\n\r\n")
    stray = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"
    provider.answer = padded + b"x" * 8000 + stray
    assert ask("localhost", provider) == b"x" * 8000
    provider.answer = ANSWER
    assert ask("localhost", provider) == b"{}"
    assert provider.connections == 2
