// The table of flags. A flag of SGLang, vLLM or llama-server that people use has a row here; so none is
// unknown by accident, and none is swallowed in silence.
#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "cli/serve_flags.h"

namespace assay::cli {
namespace {

using Args = ServeArguments;
using Text = const std::string&;
constexpr auto kOne = Arity::one;
constexpr auto kNone = Arity::none;
constexpr auto kMany = Arity::many;
constexpr auto kOptional = Arity::optional;
constexpr auto kObeyed = Effect::obeyed;
constexpr auto kIgnored = Effect::ignored;
constexpr auto kRefused = Effect::refused;

template <class Number>
Result<void> number(Text text, Number least, Number most, Number* into) {
  Number value{};
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most))
    return Error{fmt::format("expected a number from {} to {}", least, most)};
  *into = value;
  return {};
}

constexpr int kMostInt = std::numeric_limits<int>::max();

Result<void> one_of(Text value, std::initializer_list<const char*> allowed, std::string_view otherwise) {
  for (const char* a : allowed)
    if (value == a) return {};
  return Error{fmt::format("{}; possible here: {}", otherwise, fmt::join(allowed, ", "))};
}

// For refused flags: these values ask for nothing.
Result<void> harmless(Args&, Text value) {
  return one_of(value, {"1", "0", "none", "None", "null", "auto", "trivial", "off"}, "");
}

Result<void> add_names(Args& a, Text value) {
  size_t from = 0;
  while (from <= value.size()) {
    const size_t comma = std::min(value.find(',', from), value.size());
    if (comma > from) a.options.door.served_names.push_back(value.substr(from, comma - from));
    from = comma + 1;
  }
  return {};
}

constexpr const char* kLater =
    "not in this build yet: one process runs the whole model; more devices and hosts come later";
constexpr const char* kNoLora = "adapters (LoRA) are not served";
constexpr const char* kNoPd = "prefill and decode run in one engine; disaggregation is not built";
constexpr const char* kNoTiers = "not in this build yet: there is one cache tier, in memory";
constexpr const char* kNoEplb =
    "experts are not spread over devices in this build, so there is nothing to balance";
constexpr const char* kAnswerSame = "this build drafts no tokens yet; the answers are the same";
constexpr const char* kPlanned = "this operation has one backend in this build";
constexpr const char* kGpuOnly = "it concerns GPUs; this build runs on CPUs";
constexpr const char* kNoPrefixCache = "this build keeps no prefix cache";

ServeFlagGroup model_group() {
  return {"Model",
          {{"--model-path --model -m", "MODEL", kOne, kObeyed, "a folder or org/name",
            [](Args& a, Text v) -> Result<void> {
              a.model = v;
              return {};
            }},
           {"--tokenizer-path --tokenizer", "DIR", kOne, kObeyed, "tokenizer and template from here",
            [](Args& a, Text v) -> Result<void> {
              a.options.door.tokenizer_path = v;
              return {};
            }},
           {"--served-model-name -a --alias", "NAME...", kMany, kObeyed,
            "names that clients may send; the first is shown", add_names},
           {"--accept-any-model", "", kNone, kObeyed, "answer whatever model name is asked for",
            [](Args& a, Text) -> Result<void> {
              a.options.door.accept_any_model = true;
              return {};
            }},
           {"--context-length --max-model-len -c --ctx-size", "N", kOne, kObeyed,
            "tokens of prompt + answer; default: the model's",
            [](Args& a, Text v) {
              Result<void> r = number(v, 0, kMostInt, &a.options.engine.context_length);
              a.options.door.context_length = a.options.engine.context_length;
              return r;
            }},
           {"--precision", "CLASS", kOne, kObeyed, "precision class (w4a32, ...); default: the device's",
            [](Args& a, Text v) -> Result<void> {
              a.options.engine.precision = v;
              return {};
            }},
           {"--quantization -q", "NAME", kOne, kObeyed, "must agree with the tensors; they decide",
            [](Args& a, Text v) -> Result<void> {
              a.options.engine.quantization = v == "auto" || v == "None" ? "" : v;
              return {};
            }},
           {"--load-format", "auto|safetensors", kOne, kObeyed, "only safetensors are read",
            [](Args&, Text v) {
              return one_of(v, {"auto", "safetensors"}, "only safetensors are read");
            }},
           {"--trust-remote-code", "", kNone, kIgnored, "no code of a model is ever run"},
           {"--dtype", "TYPE", kOne, kIgnored, "--precision decides how activations are computed"},
           {"--revision", "NAME", kOne, kRefused,
            "the cache's refs/main is served; give the snapshot's folder for another one"},
           {"--json-model-override-args --hf-overrides", "JSON", kOne, kRefused,
            "a model's config.json is taken as it is; edit a copy",
            [](Args&, Text v) {
              return one_of(v, {"{}", ""}, "");
            }},
           {"--download-dir", "DIR", kOne, kIgnored, "nothing is downloaded; $HF_HOME names the cache"},
           {"--enable-lora --lora-paths --lora-modules --lora --max-loras-per-batch --max-loras "
            "--max-lora-rank --lora-backend",
            "", kMany, kRefused, kNoLora}}};
}

ServeFlagGroup http_group() {
  return {"HTTP",
          {{"--host", "ADDRESS", kOne, kObeyed, "default 127.0.0.1",
            [](Args& a, Text v) -> Result<void> {
              a.options.door.host = v;
              return {};
            }},
           {"--port", "N", kOne, kObeyed, "default 30000; 0 = any free one",
            [](Args& a, Text v) { return number(v, 0, 65535, &a.options.door.port); }},
           {"--api-key", "KEY", kOne, kObeyed, "visible to other users of this machine: prefer the file",
            [](Args& a, Text v) -> Result<void> {
              a.options.door.api_keys.push_back(v);
              return {};
            }},
           {"--api-key-file", "FILE", kOne, kObeyed, "one key a line",
            [](Args& a, Text v) -> Result<void> {
              a.key_files.push_back(v);
              return {};
            }},
           {"--admin-api-key", "KEY", kOne, kRefused, "there are no admin routes in this build"},
           {"--ssl-certfile --ssl-cert-file", "FILE", kOne, kObeyed, "PEM chain: serve HTTPS",
            [](Args& a, Text v) -> Result<void> {
              a.options.door.ssl_certfile = v;
              return {};
            }},
           {"--ssl-keyfile --ssl-key-file", "FILE", kOne, kObeyed, "its PEM key",
            [](Args& a, Text v) -> Result<void> {
              a.options.door.ssl_keyfile = v;
              return {};
            }},
           {"--max-queued-requests", "N", kOne, kObeyed, "answers that may wait, then 429; default 256",
            [](Args& a, Text v) { return number(v, 0, 1 << 20, &a.options.door.max_queued_requests); }},
           {"--max-connections", "N", kOne, kObeyed, "default 8192",
            [](Args& a, Text v) { return number(v, 1, 1 << 20, &a.options.door.max_connections); }},
           {"--shutdown-timeout", "SECONDS", kOne, kObeyed, "for answers in flight after SIGTERM; default 30",
            [](Args& a, Text v) { return number(v, 0, 86400, &a.options.door.shutdown_timeout_s); }},
           {"--http-threads --threads-http", "N", kOne, kObeyed, "I/O threads; default 2",
            [](Args& a, Text v) { return number(v, 1, 256, &a.options.door.http_threads); }},
           {"--log-level", "LEVEL", kOne, kObeyed, "debug, info, warning, error",
            [](Args& a, Text v) {
              a.options.door.log_level = v;
              return one_of(v, {"debug", "info", "warning", "error"}, "unknown level");
            }},
           {"--enable-metrics --metrics", "", kNone, kIgnored, "/metrics is always on"},
           {"--enable-cache-report", "", kNone, kIgnored, "usage is always filled"},
           {"--log-requests", "", kNone, kIgnored, "prompts are never logged"},
           {"--watchdog-timeout", "SECONDS", kOne, kIgnored, "the watchdog is not built yet"},
           {"--decode-log-interval", "N", kOne, kIgnored, "/metrics has the numbers"},
           {"--enable-trace", "", kNone, kIgnored, "tracing is not built"},
           {"--skip-server-warmup --no-warmup", "", kNone, kIgnored,
            "the start-up canary always runsbefore /readyz says yes"},
           {"--log-verbosity -lv --verbose -v", "N", kOptional, kIgnored, "use --log-level"},
           {"--config", "FILE", kOne, kRefused, "flags only in this build"}}};
}

ServeFlagGroup engine_group() {
  return {
      "Memory and scheduling",
      {{"--threads -t", "N", kOne, kObeyed, "CPU threads; default: all this process may use",
        [](Args& a, Text v) { return number(v, 0, 1024, &a.options.engine.threads); }},
       {"--max-running-requests --max-num-seqs -np --parallel", "N", kOne, kObeyed, "default 64",
        [](Args& a, Text v) {
          Result<void> r = number(v, 1, 65536, &a.options.engine.max_running_requests);
          a.options.door.max_running_requests = a.options.engine.max_running_requests;
          return r;
        }},
       {"--mem-fraction-static --gpu-memory-utilization", "X", kOne, kObeyed,
        "share of free memory for weights and KV",
        [](Args& a, Text v) { return number(v, 0.01, 1.0, &a.options.engine.mem_fraction_static); }},
       {"--max-total-tokens", "N", kOne, kObeyed, "tokens that fit the KV pages",
        [](Args& a, Text v) {
          return number<int64_t>(v, 1, int64_t{1} << 40, &a.options.engine.max_total_tokens);
        }},
       {"--page-size --block-size", "N", kOne, kObeyed, "tokens of one KV page; default 64",
        [](Args& a, Text v) { return number(v, 1, 4096, &a.options.engine.page_size); }},
       {"--chunked-prefill-size --max-num-batched-tokens -ub --ubatch-size", "N", kOne, kObeyed,
        "token budget of one step; default 512",
        [](Args& a, Text v) {
          return v == "-1" ? Result<void>() : number(v, 1, 1 << 20, &a.options.engine.chunked_prefill_size);
        }},
       {"--max-prefill-tokens -b --batch-size", "N", kOne, kIgnored,
        "--chunked-prefill-size is the budget of a step"},
       {"--num-gpu-blocks-override", "N", kOne, kIgnored, "use --max-total-tokens"},
       {"--kv-cache-dtype -ctk -ctv --cache-type-k --cache-type-v", "TYPE", kOne, kObeyed,
        "auto only in this build",
        [](Args&, Text v) {
          return one_of(v, {"auto"}, "not in this build yet: the cache has the type of the precision class");
        }},
       {"--cpu-offload-gb", "N", kOne, kIgnored, "weights are in main memory already"},
       {"--n-cpu-moe -ncmoe --cpu-moe -cmoe -ngl --gpu-layers --n-gpu-layers", "N", kOptional, kIgnored,
        "weights are in main memory already"},
       {"--schedule-policy", "NAME", kOne, kObeyed, "fcfs only in this build",
        [](Args&, Text v) { return one_of(v, {"fcfs"}, "not in this build yet"); }},
       {"--schedule-conservativeness", "X", kOne, kIgnored, "a request starts when all its pages are free"},
       {"--retraction-policy", "NAME", kOne, kIgnored, "nothing is retracted"},
       {"--disable-radix-cache --no-enable-prefix-caching --no-cache-prompt", "", kNone, kIgnored,
        kNoPrefixCache},
       {"--enable-prefix-caching --kv-unified", "", kNone, kIgnored, kNoPrefixCache},
       {"--radix-eviction-policy", "NAME", kOne, kIgnored, kNoPrefixCache},
       {"--disable-overlap-schedule", "", kNone, kIgnored, "two steps are always in flight"},
       {"--enable-mixed-chunk --enable-chunked-prefill", "", kNone, kIgnored,
        "a step always mixes decode and prefill"},
       {"--num-continuous-decode-steps", "N", kOne, kIgnored, "each step is scheduled"},
       {"--enable-priority-scheduling", "", kNone, kRefused, "requests are served first come, first served"},
       {"--prefill-delayer-max-delay-passes --prefill-delayer-token-usage-low-watermark "
        "--enable-prefill-delayer",
        "N", kOptional, kIgnored, "decode rows go first in every step"},
       {"--stream-interval", "N", kOne, kIgnored, "every token is sent when it is made"},
       {"--swa-full-tokens-ratio", "X", kOne, kIgnored, "sized from the model"},
       {"--mamba-full-memory-ratio --max-mamba-cache-size --mamba-radix-cache-strategy "
        "--mamba-scheduler-strategy --mamba-track-interval",
        "X", kOne, kIgnored, "one state slot for each running request"},
       {"--mamba-ssm-dtype", "TYPE", kOne, kIgnored, "recurrent state is FP32 here"}}};
}

ServeFlagGroup moe_group() {
  return {
      "Backends",
      {{"--moe-runner-backend --moe-backend", "NAME", kOne, kObeyed,
        "auto, or a runner by name (obeyed or refused)",
        [](Args& a, Text v) -> Result<void> {
          a.options.engine.moe_runner_backend = v;
          return {};
        }},
       {"--moe-a2a-backend --all2all-backend", "NAME", kOne, kRefused, kLater, harmless},
       {"--enable-deterministic-inference --deterministic", "", kNone, kIgnored,
        "all runners of this build are row-invariant: answers do not depend on the batch"},
       {"--random-seed --seed -s", "N", kOne, kIgnored,
        "a request without a seed gets a fresh one; send 'seed'"},
       {"--attention-backend --prefill-attention-backend --decode-attention-backend --linear-attn-backend "
        "--linear-attn-decode-backend --linear-attn-prefill-backend --linear-attn-verify-backend "
        "--mamba-backend --sampling-backend --flash-attn -fa",
        "NAME", kOptional, kIgnored, kPlanned},
       {"--fp8-gemm-backend --fp8-gemm-runner-backend", "NAME", kOne, kIgnored, kPlanned},
       {"--fp4-gemm-backend --fp4-gemm-runner-backend", "NAME", kOne, kIgnored, kPlanned},
       {"--bf16-gemm-backend", "NAME", kOne, kIgnored, kPlanned},
       {"--dsa-prefill-backend --dsa-decode-backend --dsa-topk-backend --nsa-prefill-backend "
        "--nsa-decode-backend",
        "NAME", kOne, kIgnored, kPlanned},
       {"--speculative-moe-runner-backend --speculative-moe-a2a-backend --speculative-attention-mode", "NAME",
        kOne, kIgnored, kAnswerSame},
       {"--flashinfer-mxfp4-moe-precision", "NAME", kOne, kIgnored, "--precision decides"},
       {"--disable-shared-experts-fusion --enforce-shared-experts-fusion", "", kNone, kIgnored,
        "fusions are chosen by proof and timing"},
       {"--disable-flashinfer-autotune", "", kNone, kIgnored, "there is no FlashInfer here"},
       {"--disable-flashinfer-cutlass-moe-fp4-allgather --enable-fused-moe-sum-all-reduce "
        "--enable-two-batch-overlap --enable-single-batch-overlap --enable-waterfill",
        "", kNone, kIgnored, "it concerns several devices"},
       {"--deepep-mode --deepep-config --deepep-dispatcher-output-dtype", "VALUE", kOne, kIgnored,
        "it concerns several devices"},
       {"--cuda-graph-max-bs --cuda-graph-max-bs-decode --cuda-graph-backend-decode "
        "--cuda-graph-backend-prefill",
        "N", kOne, kIgnored, kGpuOnly},
       {"--cuda-graph-bs --cuda-graph-bs-decode", "N...", kMany, kIgnored, kGpuOnly},
       {"--disable-cuda-graph --enforce-eager --disable-prefill-cuda-graph --disable-decode-cuda-graph "
        "--disable-cuda-graph-padding --enable-torch-compile",
        "", kNone, kIgnored, kGpuOnly},
       {"--disable-custom-all-reduce --enable-nccl-nvls --enable-symm-mem --enable-mscclpp", "", kNone,
        kIgnored, "it concerns several devices"},
       {"--flashinfer-allreduce-fusion-backend", "NAME", kOne, kIgnored, "it concerns several devices"},
       {"--rl-on-policy-target", "NAME", kOne, kRefused, "training backends are not matched bit for bit"}}};
}

ServeFlagGroup text_group() {
  return {
      "Text",
      {{"--chat-template --chat-template-file", "FILE", kOne, kObeyed, "a Jinja file; default: the model's",
        [](Args& a, Text v) -> Result<void> {
          a.options.door.chat_template = v;
          return {};
        }},
       {"--sampling-defaults", "model|openai", kOne, kObeyed,
        "generation_config.json, or OpenAI's; default model",
        [](Args& a, Text v) {
          a.options.door.sampling_from_model = v != "openai";
          return one_of(v, {"model", "openai"}, "unknown source");
        }},
       {"--reasoning-parser --reasoning-format", "NAME", kOne, kIgnored,
        "<think> is recognised from the prompt"},
       {"--tool-call-parser", "NAME", kOne, kIgnored, "not built yet: a tool call comes back as text"},
       {"--enable-auto-tool-choice --jinja", "", kNone, kIgnored, "always on"},
       {"--grammar-backend --structured-outputs-config", "NAME", kOne, kIgnored,
        "structured output is not built yet; requests for it are refused"}}};
}

ServeFlagGroup speculative_group() {
  return {"Speculative decoding",
          {{"--speculative-algorithm --spec-type", "NAME", kOne, kIgnored, kAnswerSame},
           {"--speculative-num-steps", "N", kOne, kIgnored, kAnswerSame},
           {"--speculative-eagle-topk", "N", kOne, kIgnored, kAnswerSame},
           {"--speculative-num-draft-tokens --spec-draft-n-max", "N", kOne, kIgnored, kAnswerSame},
           {"--speculative-draft-model-path --spec-draft-model", "DIR", kOne, kIgnored, kAnswerSame},
           {"--speculative-config", "JSON", kOne, kIgnored, kAnswerSame}}};
}

ServeFlagGroup parallel_group() {
  return {
      "Parallel",
      {{"--tp-size --tp --tensor-parallel-size -tp", "N", kOne, kRefused, kLater, harmless},
       {"--ep-size --ep --expert-parallel-size", "N", kOne, kRefused, kLater, harmless},
       {"--enable-expert-parallel", "", kNone, kRefused, kLater},
       {"--dp-size --dp --data-parallel-size -dp", "N", kOne, kRefused,
        "data parallel copies are separate servers behind a gateway", harmless},
       {"--pp-size --pp --pipeline-parallel-size -pp", "N", kOne, kRefused, "pipeline parallel is not built",
        harmless},
       {"--moe-dp-size --attn-cp-size --dcp-size --dwdp-size --moe-dense-tp-size", "N", kOne, kRefused,
        kLater, harmless},
       {"--enable-dp-attention --enable-dp-lm-head", "", kNone, kRefused,
        "data-parallel attention is not built"},
       {"--nnodes", "N", kOne, kRefused, kLater, harmless},
       {"--node-rank", "N", kOne, kRefused, kLater, [](Args&, Text v) { return one_of(v, {"0"}, ""); }},
       {"--dist-init-addr --master-addr", "HOST:PORT", kOne, kIgnored, "one process runs the whole model"},
       {"--split-mode --tensor-split -ts", "VALUE", kOne, kRefused, kLater},
       {"--rpc", "HOSTS", kOne, kRefused, kLater},
       {"--load-balance-method", "NAME", kOne, kIgnored, "there is one engine"},
       {"--enable-eplb", "", kNone, kRefused, kNoEplb},
       {"--eplb-algorithm --eplb-rebalance-num-iterations --eplb-rebalance-layers-per-chunk "
        "--expert-distribution-recorder-mode --expert-balancedness-report-mode",
        "VALUE", kOne, kIgnored, kNoEplb},
       {"--ep-num-redundant-experts --ep-dispatch-algorithm --init-expert-location --elastic-ep-backend",
        "VALUE", kOne, kRefused, kNoEplb, harmless}}};
}

ServeFlagGroup tier_group() {
  return {"Cache tiers, disaggregation",
          {{"--enable-hierarchical-cache", "", kNone, kRefused, kNoTiers},
           {"--hicache-ratio --hicache-size --hicache-write-policy --hicache-io-backend --hicache-mem-layout",
            "VALUE", kOne, kIgnored, kNoTiers},
           {"--hicache-storage-backend", "NAME", kOne, kRefused, kNoTiers, harmless},
           {"--disaggregation-mode", "NAME", kOne, kRefused, kNoPd, harmless},
           {"--disaggregation-transfer-backend --disaggregation-bootstrap-port --disaggregation-ib-device",
            "VALUE", kOne, kIgnored, kNoPd}}};
}

}  // namespace

const std::vector<ServeFlagGroup>& serve_flag_groups() {
  static const std::vector<ServeFlagGroup> groups = {model_group(),    http_group(), engine_group(),
                                                     moe_group(),      text_group(), speculative_group(),
                                                     parallel_group(), tier_group()};
  return groups;
}

}  // namespace assay::cli
