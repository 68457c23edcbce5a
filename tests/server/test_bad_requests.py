"""Bad inputs: each gets its status, type and param, and the server serves on."""
import json

import httpx
import pytest

from server import Server

USER = {"role": "user", "content": "hi"}
CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
INVALID = "invalid_request_error"


@pytest.fixture(scope="module")
def server():
    with Server() as s:
        yield s


def chat(**fields):
    return {"messages": [USER], "max_tokens": 4, **fields}


def message(**fields):
    return {"messages": [{**USER, **fields}]}


def part(**fields):
    return message(content=[{"type": "text", "text": "a"}, fields])


# (path, body or bytes, status, param)
BAD = [
    (CHAT, b"", 400, None),
    (CHAT, b"{", 400, None),
    (CHAT, b"[]", 400, None),
    (CHAT, b'"x"', 400, None),
    (CHAT, b'{"messages":[],"messages":[]}', 400, None),
    (CHAT, b'{"messages":[{"role":"user","content":"\xff\xfe"}]}', 400, None),
    (CHAT, b'{"messages":[{"role":"user","content":"\\ud800"}]}', 400, None),
    (CHAT, b'{"messages":' + b"[" * 100000, 400, None),
    (CHAT, b'{"temperature":NaN}', 400, None),
    (CHAT, {}, 400, "messages"),
    (CHAT, {"messages": []}, 400, "messages"),
    (CHAT, {"messages": "hi"}, 400, "messages"),
    (CHAT, {"messages": [5]}, 400, "messages[0]"),
    (CHAT, {"messages": [USER] * 2049}, 400, "messages"),
    (CHAT, message(role="boss"), 400, "messages[0].role"),
    (CHAT, message(content=5), 400, "messages[0].content"),
    (CHAT, message(content=None), 400, "messages[0].content"),
    (CHAT, part(type="image_url", image_url={"url": "data:"}), 400, "messages[0].content[1]"),
    (CHAT, part(type="input_audio", input_audio={}), 400, "messages[0].content[1]"),
    (CHAT, part(type="video_url", video_url={}), 400, "messages[0].content[1]"),
    (CHAT, part(type="file", file={}), 400, "messages[0].content[1]"),
    (CHAT, part(type="text"), 400, "messages[0].content[1].text"),
    (CHAT, chat(model=5), 400, "model"),
    (CHAT, chat(model="gpt-4"), 404, "model"),
    (CHAT, chat(temperature=-0.1), 400, "temperature"),
    (CHAT, chat(temperature="warm"), 400, "temperature"),
    (CHAT, chat(top_p=0), 400, "top_p"),
    (CHAT, chat(top_p=1.1), 400, "top_p"),
    (CHAT, chat(top_k=-5), 400, "top_k"),
    (CHAT, chat(min_p=2), 400, "min_p"),
    (CHAT, chat(n=0), 400, "n"),
    (CHAT, chat(n=9), 400, "n"),
    (CHAT, chat(max_tokens=0), 400, "max_tokens"),
    (CHAT, chat(max_tokens=-1), 400, "max_tokens"),
    (CHAT, chat(max_tokens=5000), 400, "messages"),
    (CHAT, chat(seed="x"), 400, "seed"),
    (CHAT, chat(stop=["a"] * 17), 400, "stop"),
    (CHAT, chat(stop=["a" * 300]), 400, "stop[0]"),
    (CHAT, chat(stop=5), 400, "stop"),
    (CHAT, chat(stream="true"), 400, "stream"),
    (CHAT, chat(stream_options={"include_usage": True}), 400, "stream_options"),
    (CHAT, chat(logit_bias={"99999": 1}), 400, "logit_bias"),
    (CHAT, chat(logit_bias={"5": 1000}), 400, "logit_bias"),
    (CHAT, chat(logprobs=True), 400, "logprobs"),
    (CHAT, chat(top_logprobs=5), 400, "top_logprobs"),
    (CHAT, chat(presence_penalty=2.5), 400, "presence_penalty"),
    (CHAT, chat(frequency_penalty=-2.5), 400, "frequency_penalty"),
    (CHAT, chat(repetition_penalty=0), 400, "repetition_penalty"),
    (CHAT, chat(response_format={"type": "json_object"}), 400, "response_format"),
    (CHAT, chat(response_format={"type": "json_schema", "json_schema": {}}), 400, "response_format"),
    (CHAT, chat(tools=[{"type": "function"}]), 400, "tools[0]"),
    (CHAT, chat(tools=[{"type": "function", "function": {"name": "f"}}], tool_choice="required"), 400, "tool_choice"),
    (CHAT, chat(tool_choice={"type": "function", "function": {"name": "f"}}), 400, "tool_choice"),
    (CHAT, chat(functions=[]), 400, "functions"),
    (CHAT, chat(audio={"voice": "x"}), 400, "audio"),
    (CHAT, chat(stop_token_ids=["x"]), 400, "stop_token_ids"),
    (CHAT, chat(continue_final_message=True, add_generation_prompt=True), 400, "continue_final_message"),
    (CHAT, {"messages": [{"role": "user", "content": "a"}, {"role": "system", "content": "late"}]}, 400, "messages"),
    (COMPLETIONS, {}, 400, "prompt"),
    (COMPLETIONS, {"prompt": ""}, 400, "prompt"),
    (COMPLETIONS, {"prompt": []}, 400, "prompt"),
    (COMPLETIONS, {"prompt": [4096]}, 400, "prompt"),
    (COMPLETIONS, {"prompt": ["a", 5]}, 400, "prompt[1]"),
    (COMPLETIONS, {"prompt": "a", "suffix": "b"}, 400, "suffix"),
    (COMPLETIONS, {"prompt": "a", "best_of": 3}, 400, "best_of"),
    (COMPLETIONS, {"prompt": "a", "logprobs": 3}, 400, "logprobs"),
    (COMPLETIONS, {"prompt": "a", "echo": "yes"}, 400, "echo"),
    (COMPLETIONS, {"prompt": "word " * 5000}, 400, "prompt"),
    ("/tokenize", {}, 400, "prompt"),
    ("/detokenize", {"tokens": ["x"]}, 400, "tokens"),
    ("/v1/embeddings", {"input": "x"}, 404, None),
    ("/nothing", {}, 404, None),
    ("/health", {}, 405, None),
]


@pytest.mark.parametrize("path,body,status,param", BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_request(server, path, body, status, param):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = httpx.post(server.url + path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["type"] == INVALID and error["param"] == param and error["message"], answer.text
    assert set(error) == {"message", "type", "param", "code"}
    assert httpx.get(server.url + "/readyz").status_code == 200


def test_serves_on(server):
    answer = httpx.post(server.url + CHAT, json=chat())
    assert answer.status_code == 200 and answer.json()["usage"]["completion_tokens"] > 0
    server.wait_idle()


def test_get_on_post_route_names_the_method(server):
    answer = httpx.get(server.url + CHAT)
    assert answer.status_code == 405 and answer.headers["allow"] == "POST"


def test_body_limit(server):
    answer = httpx.post(server.url + CHAT, content=b" " * (4 << 20) + b"{}")
    assert answer.status_code == 413 and "4194304" in answer.json()["error"]["message"]


def test_context_names_both_numbers(server):
    answer = httpx.post(server.url + CHAT, json=chat(max_tokens=4096))
    error = answer.json()["error"]
    assert error["code"] == "context_length_exceeded" and error["message"].count("4096") == 2
