"""HTTP as hostile or broken clients speak it."""
import json
import socket
import time

import httpx
import pytest

from server import Server


@pytest.fixture(scope="module")
def server():
    with Server() as s:
        yield s


def talk(server, data, timeout=15):
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as s:
        try:
            s.sendall(data)
        except OSError:
            pass
        got = b""
        try:
            while block := s.recv(65536):
                got += block
        except OSError:
            pass
        return got


def status(answer):
    return int(answer.split(b" ")[1]) if answer.startswith(b"HTTP/") else None


@pytest.mark.parametrize("data,want", [
    (b"hello\r\n\r\n", 400),
    (b"GET / HTTP/9.9\r\n\r\n", 400),
    (b"GET / HTTP/1.1\nHost: x\n\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
    (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n", 413),
    (b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", 400),
    (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nA: " + b"a" * 17000 + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\n" + b"".join(b"A%d: b\r\n" % i for i in range(70)) + b"\r\n", 431),
])
def test_malformed(server, data, want):
    answer = talk(server, data)
    assert status(answer) == want, answer[:300]
    body = json.loads(answer.split(b"\r\n\r\n", 1)[1])
    assert body["error"]["message"]
    assert httpx.get(server.url + "/readyz").status_code == 200


def test_slow_header_is_cut_off(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as s:
        began = time.monotonic()
        s.sendall(b"GET / HTTP/1.1\r\n")
        assert s.recv(100) == b""
        assert 8 < time.monotonic() - began < 15


def test_slow_body_is_cut_off(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as s:
        s.sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Length: 100000\r\n\r\n{")
        began = time.monotonic()
        try:
            while time.monotonic() - began < 15:
                s.sendall(b" ")
                time.sleep(0.5)
        except OSError:
            pass
        assert 4 < time.monotonic() - began < 10


def test_slow_reader_is_cancelled(server):
    """A reader that takes nothing: its answer is cancelled, memory stays bounded, the others go on."""
    body = json.dumps({"prompt": "a", "max_tokens": 4000, "ignore_eos": True, "stream": True, "n": 8}).encode()
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", server.port))
        s.sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        end = time.monotonic() + 180
        while server.metrics()["assay_requests_in_flight"] > 0 or not aborted(server):
            assert time.monotonic() < end
            time.sleep(0.2)
    assert httpx.post(server.url + "/v1/completions", json={"prompt": "a", "max_tokens": 3}, timeout=60).status_code == 200
    server.wait_idle()


def aborted(server):
    m = server.metrics()
    return sum(v for k, v in m.items() if k.startswith("assay_aborted") and ("slow_reader" in k or "stalled" in k))


def test_expect_continue_and_pipelining(server):
    body = b'{"prompt":"a","max_tokens":2}'
    head = b"POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n" % len(body)
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as s:
        s.sendall(head + b"Expect: 100-continue\r\n\r\n")
        assert s.recv(100).startswith(b"HTTP/1.1 100 Continue")
        s.sendall(body)
        assert b"200 OK" in s.recv(65536)
        s.sendall((head + b"\r\n" + body) * 2 + head + b"Connection: close\r\n\r\n" + body)
        got = b""
        while block := s.recv(65536):
            got += block
        assert got.count(b"200 OK") == 3


def test_many_idle_connections(server):
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(500)]
    assert httpx.get(server.url + "/readyz").status_code == 200
    assert server.metrics()["assay_http_connections"] >= 500
    [s.close() for s in idle]
