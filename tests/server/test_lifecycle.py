"""Start, death of each process, draining, keys, TLS, limits of memory."""
import os
import signal
import ssl
import subprocess
import threading
import time

import httpx
import pytest

from server import ASSAY, Server

LONG = {"messages": [{"role": "user", "content": "Tell me a story."}], "max_tokens": 400, "ignore_eos": True}
SHORT = {"messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 3}
CHAT = "/v1/chat/completions"


def test_socket_opens_before_the_model_is_loaded():
    with Server(wait=False) as s:
        seen = set()
        while True:
            try:
                answer = httpx.get(s.url + "/health")
            except httpx.ConnectError:
                continue
            if answer.status_code == 200:
                break
            body = answer.json()
            assert answer.status_code == 503 and 0 <= body["progress"] <= 1
            assert "retry-after" in answer.headers
            seen.add(body["status"])
            refused = httpx.post(s.url + CHAT, json=SHORT)
            assert refused.status_code in (200, 503)
            if refused.status_code == 503:
                assert refused.headers["retry-after"] and refused.json()["error"]["code"] == "loading"
            assert httpx.get(s.url + "/livez").status_code == 200
        assert seen == {"loading"}


def test_engine_death_is_told_and_healed():
    with Server() as s:
        results = {}

        def ask(stream):
            body = {**LONG, "stream": stream, "max_tokens": 3000}
            answer = httpx.post(s.url + CHAT, json=body, timeout=60)
            results[stream] = (answer.status_code, answer.text)
        threads = [threading.Thread(target=ask, args=(v,)) for v in (True, False)]
        [t.start() for t in threads]
        while s.metrics()["assay_requests_in_flight"] < 2:
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(s.children()["__engine"], signal.SIGKILL)
        [t.join() for t in threads]
        assert results[True][0] == 200 and '"code":"engine_died"' in results[True][1].split("data: ")[-1]
        assert results[False][0] == 503 and "engine_died" in results[False][1]
        now = httpx.post(s.url + CHAT, json=SHORT)
        assert now.status_code in (200, 503)
        s.wait_ready()
        assert httpx.post(s.url + CHAT, json=SHORT).status_code == 200
        assert s.metrics()["assay_engine_losses_total"] == 1
        s.wait_idle()


def test_door_death_is_healed():
    with Server() as s:
        os.kill(s.children()["__door"], signal.SIGKILL)
        time.sleep(0.3)
        s.wait_ready()
        assert httpx.post(s.url + CHAT, json=SHORT).status_code == 200
        s.wait_idle()


def test_sigterm_drains():
    s = Server()
    try:
        result = {}

        def ask():
            result["answer"] = httpx.post(s.url + CHAT, json=LONG, timeout=60)
        thread = threading.Thread(target=ask)
        thread.start()
        while s.metrics()["assay_requests_in_flight"] < 1:
            time.sleep(0.01)
        s.process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
        ready = httpx.get(s.url + "/readyz")
        assert ready.status_code == 503 and ready.json()["status"] == "draining"
        refused = httpx.post(s.url + CHAT, json=SHORT)
        assert refused.status_code == 503 and refused.headers["retry-after"]
        thread.join()
        assert result["answer"].status_code == 200
        assert result["answer"].json()["usage"]["completion_tokens"] == 400
        assert s.process.wait(10) == 0
    finally:
        s.stop()


def test_drain_has_an_end():
    s = Server("--shutdown-timeout", "1")
    thread = threading.Thread(target=lambda: httpx.post(s.url + CHAT, json={**LONG, "max_tokens": 4000}, timeout=60))
    thread.start()
    while s.metrics()["assay_requests_in_flight"] < 1:
        time.sleep(0.01)
    began = time.monotonic()
    s.process.send_signal(signal.SIGTERM)
    assert s.process.wait(10) == 0
    assert 0.8 < time.monotonic() - began < 4
    thread.join()
    s.stop()


def test_second_signal_stops_at_once():
    s = Server()
    children = s.children()

    def ask():
        try:
            httpx.post(s.url + CHAT, json={**LONG, "max_tokens": 4000}, timeout=60)
        except httpx.HTTPError:
            pass
    thread = threading.Thread(target=ask)
    thread.start()
    while s.metrics()["assay_requests_in_flight"] < 1:
        time.sleep(0.01)
    s.process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    assert s.process.poll() is None
    s.process.send_signal(signal.SIGINT)
    s.process.wait(3)
    thread.join()
    s.stop(expect=0)
    assert not [p for p in children.values() if os.path.exists(f"/proc/{p}")]


def test_killed_supervisor_leaves_no_orphans():
    s = Server()
    children = s.children()
    s.process.kill()
    s.process.wait()
    time.sleep(0.5)
    alive = [p for p in children.values() if os.path.exists(f"/proc/{p}") and " Z " not in open(f"/proc/{p}/stat").read()]
    assert not alive
    s.stop(expect=None)


def test_api_key(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("first-key\nsecond-key\n")
    with Server("--api-key-file", str(keys), env={"ASSAY_API_KEY": "from-env"}) as s:
        for path in ("/livez", "/readyz", "/health"):
            assert httpx.get(s.url + path).status_code == 200
        for path in ("/v1/models", "/metrics", "/version"):
            assert httpx.get(s.url + path).status_code == 401
        bad = httpx.post(s.url + CHAT, json=SHORT, headers={"authorization": "Bearer first-ke"})
        assert bad.status_code == 401 and bad.json()["error"]["code"] == "invalid_api_key"
        for key in ("first-key", "second-key", "from-env"):
            good = httpx.post(s.url + CHAT, json=SHORT, headers={"authorization": "Bearer " + key})
            assert good.status_code == 200
        for pid in s.children().values():
            with open(f"/proc/{pid}/cmdline") as f:
                assert "key" not in f.read()


def test_tls(tmp_path):
    cert, key = tmp_path / "c.pem", tmp_path / "k.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    s = Server("--ssl-certfile", str(cert), "--ssl-keyfile", str(key), wait=False)
    try:
        url = s.url.replace("http", "https")
        context = ssl.create_default_context(cafile=str(cert))
        with httpx.Client(verify=context, timeout=30) as client:
            end = time.monotonic() + 60
            while True:
                try:
                    if client.get(url + "/readyz").status_code == 200:
                        break
                except httpx.HTTPError:
                    assert time.monotonic() < end, s.read_log()
                time.sleep(0.02)
            assert client.post(url + CHAT, json=SHORT).status_code == 200
            with client.stream("POST", url + CHAT, json={**SHORT, "stream": True}) as answer:
                assert list(answer.iter_lines())[-2] == "data: [DONE]"
    finally:
        s.stop()


def test_door_is_small_and_locked():
    with Server() as s:
        httpx.post(s.url + CHAT, json=SHORT)
        door = s.children()["__door"]
        with open(f"/proc/{door}/smaps_rollup") as f:
            pss = int([l for l in f if l.startswith("Pss:")][0].split()[1])
        status = open(f"/proc/{door}/status").read()
        if "san/" not in ASSAY:  # sanitizer builds are larger and unlocked
            assert pss < 40 * 1024, f"{pss} kB"
            assert "Seccomp:\t2" in status
            for task in os.listdir(f"/proc/{door}/task"):
                assert "Seccomp:\t2" in open(f"/proc/{door}/task/{task}/status").read()


@pytest.mark.parametrize("flags,says", [
    (["--contxt-length", "5"], "nearest is --context-length"),
    (["/nowhere/at/all"], "no such folder"),
    (["nobody/no-such-model"], "hf download nobody/no-such-model"),
    (["--tp", "8"], "not in this build yet"),
    (["--ssl-certfile", "x"], "go together"),
    (["model.gguf"], "GGUF"),
])
def test_bad_starts_say_why(flags, says):
    done = subprocess.run([ASSAY, "serve", "--port", "0", *flags], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr


def test_busy_port_is_named():
    with Server() as s:
        done = subprocess.run([ASSAY, "serve", "--port", str(s.port)], capture_output=True, text=True, timeout=30)
        assert done.returncode == 2 and str(s.port) in done.stderr


def test_help_and_alias():
    done = subprocess.run([ASSAY, "launch_server", "--help"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and "--context-length" in done.stdout
