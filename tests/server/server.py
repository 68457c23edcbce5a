"""Starts the server under test on a free loopback port and stops it by pid."""
import os
import signal
import socket
import subprocess
import time

import httpx

ASSAY = os.environ["ASSAY"]


class Server:
    def __init__(self, *flags, program=ASSAY, wait=True, env=None):
        self.flags = flags
        self.log = open(f"/tmp/assay_server_test_{os.getpid()}_{id(self)}.log", "w+")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [program, "serve", "--port", str(self.port), *flags],
            stderr=self.log, stdout=self.log, env={**os.environ, **(env or {})})
        if wait:
            self.wait_ready()

    def wait_ready(self, timeout=120):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            assert self.process.poll() is None, self.read_log()
            try:
                if httpx.get(self.url + "/readyz").status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.01)
        raise AssertionError("not ready: " + self.read_log())

    def read_log(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def metrics(self):
        values = {}
        for line in httpx.get(self.url + "/metrics").text.splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return values

    def wait_idle(self, timeout=20):
        """Until no request, page or slot is in use; returns the last metrics."""
        names = ["assay_num_requests_running", "assay_num_requests_waiting", "assay_kv_pages_used",
                 "assay_state_slots_used", "assay_requests_in_flight"]
        end = time.monotonic() + timeout
        while True:
            now = self.metrics()
            left = {n: now[n] for n in names if now[n] != 0}
            if not left:
                return now
            assert time.monotonic() < end, f"still in use: {left}\n{self.read_log()[-2000:]}"
            time.sleep(0.05)

    def children(self):
        """{'__door': pid, '__engine': pid}"""
        found = {}
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as f:
            for pid in f.read().split():
                with open(f"/proc/{pid}/cmdline") as c:
                    found[c.read().split("\0")[1]] = int(pid)
        return found

    def stop(self, expect=0):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        log = self.read_log()
        self.log.close()
        os.unlink(self.log.name)
        if expect is not None:
            assert self.process.returncode == expect, log
        assert "broken invariant" not in log, log
        return log

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        self.stop(expect=0 if kind is None else None)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
