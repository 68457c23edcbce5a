"""What the openai package does with the server in its first hour."""
import openai
import pytest

from server import Server

MESSAGES = [{"role": "user", "content": "What is the capital of Japan?"}]


@pytest.fixture(scope="module")
def server():
    with Server("--served-model-name", "tiny", "other-name") as s:
        yield s


@pytest.fixture(scope="module")
def client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)


STORY = [{"role": "user", "content": "Tell me a story about a brave fox."}]  # many ways to go on
WILD = {"top_k": 0, "top_p": 1.0}


def chat(client, messages=MESSAGES, **more):
    return client.chat.completions.create(model="tiny", messages=messages, **{"max_tokens": 24, "temperature": 0, **more})


def test_models(client):
    ids = [m.id for m in client.models.list()]
    assert ids == ["tiny", "other-name"]
    assert client.models.retrieve("tiny").id == "tiny"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nobody")


def test_chat(client):
    answer = chat(client)
    choice = answer.choices[0]
    assert choice.message.role == "assistant" and choice.message.content
    assert choice.finish_reason in ("stop", "length")
    assert answer.usage.prompt_tokens > 5
    assert 1 <= answer.usage.completion_tokens <= 24
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.id.startswith("chatcmpl-") and answer.model == "tiny" and answer.object == "chat.completion"


def test_stream_equals_whole_answer(client):
    whole = chat(client)
    chunks = list(chat(client, stream=True, stream_options={"include_usage": True}))
    assert chunks[0].choices[0].delta.role == "assistant" and chunks[0].choices[0].delta.content == ""
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    finishes = [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason]
    assert finishes == [whole.choices[0].finish_reason]
    assert chunks[-1].choices == [] and chunks[-1].usage == whole.usage
    assert all(c.usage is None for c in chunks[:-1])
    assert len({c.id for c in chunks}) == 1


def test_stream_without_usage(client):
    chunks = list(chat(client, stream=True))
    assert all(c.choices for c in chunks)


def test_stop_string(client):
    whole = chat(client, max_tokens=60).choices[0].message.content
    stop = whole[len(whole) // 2:][:4]
    expected = whole[:whole.index(stop)]
    for stream in (False, True):
        answer = chat(client, max_tokens=60, stop=[stop, "never in there"], stream=stream)
        if stream:
            chunks = list(answer)
            text = "".join(c.choices[0].delta.content or "" for c in chunks)
            reason = chunks[-1].choices[0].finish_reason
        else:
            text, reason = answer.choices[0].message.content, answer.choices[0].finish_reason
        assert text == expected
        assert reason == "stop"


def test_seed(client):
    def sampled(seed):
        answer = chat(client, STORY, temperature=1.5, seed=seed, extra_body=WILD)
        return answer.choices[0].message.content
    assert sampled(7) == sampled(7)
    assert len({sampled(s) for s in range(4)}) > 1
    assert chat(client, STORY, temperature=1.5, extra_body=WILD) != chat(client, STORY, temperature=1.5, extra_body=WILD)


def test_n(client):
    def sampled(n, **more):
        return chat(client, STORY, n=n, temperature=1.5, seed=3, extra_body=WILD, **more)
    answer = sampled(3)
    assert [c.index for c in answer.choices] == [0, 1, 2]
    assert len({c.message.content for c in answer.choices}) > 1
    assert sampled(1).choices[0].message.content == answer.choices[0].message.content
    texts = ["", "", ""]
    for chunk in sampled(3, stream=True):
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts == [c.message.content for c in answer.choices]


def test_completions(client):
    one = client.completions.create(model="tiny", prompt="Once upon a time", max_tokens=8, temperature=0)
    assert one.object == "text_completion" and one.choices[0].text and one.usage.completion_tokens <= 8
    echo = client.completions.create(model="tiny", prompt="Once upon a time", max_tokens=8, temperature=0, echo=True)
    assert echo.choices[0].text == "Once upon a time" + one.choices[0].text
    two = client.completions.create(model="tiny", prompt=["Once upon a time", "Hello"], max_tokens=8, temperature=0)
    assert [c.index for c in two.choices] == [0, 1] and two.choices[0].text == one.choices[0].text
    parts = client.completions.create(model="tiny", prompt="Once upon a time", max_tokens=8, temperature=0, stream=True)
    assert "".join(p.choices[0].text for p in parts) == one.choices[0].text


def test_prompts_as_ids(client, server):
    tokens = client._client.post(server.url + "/tokenize", json={"prompt": "Once upon a time"}).json()
    assert tokens["count"] == len(tokens["tokens"]) and tokens["max_model_len"] == 4096
    text = client._client.post(server.url + "/detokenize", json={"tokens": tokens["tokens"]}).json()
    assert text["prompt"] == "Once upon a time"
    by_text = client.completions.create(model="tiny", prompt="Once upon a time", max_tokens=8, temperature=0)
    by_ids = client.completions.create(model="tiny", prompt=tokens["tokens"], max_tokens=8, temperature=0)
    lists = client.completions.create(model="tiny", prompt=[tokens["tokens"]], max_tokens=8, temperature=0)
    assert by_text.choices[0].text == by_ids.choices[0].text == lists.choices[0].text


def test_fields_that_clients_send(client):
    answer = client.chat.completions.create(
        model="other-name", max_completion_tokens=4, temperature=0, user="u", metadata={"a": "b"}, top_p=0.9,
        presence_penalty=0.1, frequency_penalty=0.1, logit_bias={"5": -100}, response_format={"type": "text"},
        tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}], tool_choice="auto",
        messages=[{"role": "developer", "content": "Be brief."},
                  {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
                  {"role": "assistant", "content": None, "tool_calls": [
                      {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                  {"role": "tool", "tool_call_id": "c1", "content": "42"}],
        extra_body={"top_k": 5, "min_p": 0.01, "repetition_penalty": 1.1, "ignore_eos": True, "min_tokens": 2,
                    "stop_token_ids": [3], "chat_template_kwargs": {"enable_thinking": False}, "unheard_of": 1})
    assert answer.usage.completion_tokens == 4 and answer.choices[0].finish_reason == "length"


def test_reasoning_is_parted(client):
    answer = chat(client, max_tokens=200, extra_body={"chat_template_kwargs": {"enable_thinking": True}})
    message = answer.choices[0].message
    assert message.reasoning_content == message.reasoning and message.reasoning
    assert "</think>" not in (message.content or "") + message.reasoning


def test_typed_exceptions(client, server):
    with pytest.raises(openai.BadRequestError) as e:
        chat(client, temperature=9)
    assert e.value.param == "temperature" and e.value.type == "invalid_request_error"
    with pytest.raises(openai.NotFoundError) as e:
        client.chat.completions.create(model="gpt-4", messages=MESSAGES)
    assert e.value.code == "model_not_found" and e.value.param == "model"
    with pytest.raises(openai.BadRequestError) as e:
        client.completions.create(model="tiny", prompt="a " * 5000)
    assert e.value.code == "context_length_exceeded" and "4096" in e.value.message
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="tiny", input="x")


def test_request_id_comes_back(client, server):
    r = client._client.get(server.url + "/version", headers={"x-request-id": "my-id-1"})
    assert r.headers["x-request-id"] == "my-id-1" and r.json()["version"]


def test_metrics_count(server):
    m = server.wait_idle()
    assert m["assay_generation_tokens_total"] > 0 and m["assay_engine_up"] == 1
    assert m["assay_unknown_fields_total"] >= 1
