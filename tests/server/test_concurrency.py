"""Neighbours do not change answers, and clients that leave take nothing with them."""
import asyncio
import random

import httpx
import pytest

from server import Server

STREAMS = 64
PROMPTS = ["Tell me a story about a fox.", "What is the capital of Japan?", "Hello!", "Count to ten.",
           "Write a JSON object about a cat.", "What is 3 + 4?"]


@pytest.fixture(scope="module")
def server():
    with Server() as s:
        yield s


def request(i):
    sampled = i % 2 == 1
    return {"messages": [{"role": "user", "content": PROMPTS[i % len(PROMPTS)] + " " * (i // 6)}],
            "max_tokens": 5 + (i * 7) % 60, "temperature": 1.0 if sampled else 0, "seed": i, "stream": True,
            "stream_options": {"include_usage": True}}


async def stream(client, body):
    """All bytes but ids and times."""
    text = []
    async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        assert answer.status_code == 200
        async for line in answer.aiter_lines():
            if line.startswith("data: ") and '"choices"' in line:
                text.append(line.split('"choices"', 1)[1])
    return text


def test_64_streams_equal_the_same_alone(server):
    async def run():
        limits = httpx.Limits(max_connections=100)
        async with httpx.AsyncClient(base_url=server.url, timeout=300, limits=limits) as client:
            together = await asyncio.gather(*[stream(client, request(i)) for i in range(STREAMS)])
            for i in range(STREAMS):
                assert await stream(client, request(i)) == together[i], f"request {i}"
    asyncio.run(run())
    server.wait_idle()


def test_200_disconnects_leave_nothing(server):
    rng = random.Random(5)

    async def leave(client, i):
        body = {"messages": [{"role": "user", "content": PROMPTS[i % len(PROMPTS)]}], "max_tokens": 1000,
                "ignore_eos": True, "stream": i % 4 != 0, "n": 1 + i % 2}
        try:
            await asyncio.wait_for(client.post("/v1/chat/completions", json=body), rng.uniform(0.0, 0.4))
        except (asyncio.TimeoutError, httpx.HTTPError):
            pass

    async def run():
        for start in range(0, 200, 50):
            async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
                await asyncio.gather(*[leave(client, i) for i in range(start, start + 50)])
    asyncio.run(run())
    m = server.wait_idle()
    assert m['assay_aborted_requests_total{reason="disconnect"}'] >= 150
    body = {"messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 3}
    assert httpx.post(server.url + "/v1/chat/completions", json=body, timeout=60).status_code == 200


def test_queue_limit():
    with Server("--max-running-requests", "2", "--max-queued-requests", "2") as small:
        async def run():
            async with httpx.AsyncClient(base_url=small.url, timeout=60) as client:
                body = {"prompt": "a", "max_tokens": 200, "ignore_eos": True}
                return await asyncio.gather(*[client.post("/v1/completions", json=body) for _ in range(8)])
        answers = asyncio.run(run())
        assert sorted(a.status_code for a in answers) == [200] * 4 + [429] * 4
        refused = [a for a in answers if a.status_code == 429][0]
        assert refused.headers["retry-after"] and refused.json()["error"]["code"] == "rate_limit_exceeded"
        small.wait_idle()
