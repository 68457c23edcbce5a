// The flag table: aliases, refusals, hints, and the launch lines that SGLang's documentation recommends.
#include "cli/serve_flags.h"

#include <gtest/gtest.h>

#include <sstream>

namespace assay::cli {
namespace {

ServeArguments parse(const std::string& line) {
  std::istringstream in(line);
  return parse_serve_arguments({std::istream_iterator<std::string>(in), {}});
}

// Which flags were refused, in order, by their first word.
std::string refused(const ServeArguments& a) {
  std::string out;
  for (const std::string& why : a.refusals) out += why.substr(0, why.find(' ')) + " ";
  return out;
}

TEST(ServeFlags, NamesOfThreeServers) {
  for (const char* line :
       {"m --context-length 100 --max-running-requests 3 --port 0",
        "--model m --max-model-len 100 --max-num-seqs 3 --port=0", "-m m -c 100 -np 3 --port 0",
        "--model_path=m --context_length=100 --max_running_requests=3 --port 0"}) {
    const ServeArguments a = parse(line);
    EXPECT_EQ(refused(a), "") << line;
    EXPECT_EQ(a.model, "m");
    EXPECT_EQ(a.options.engine.context_length, 100);
    EXPECT_EQ(a.options.door.context_length, 100);
    EXPECT_EQ(a.options.engine.max_running_requests, 3);
    EXPECT_EQ(a.options.door.max_running_requests, 3);
    EXPECT_EQ(a.options.door.port, 0);
  }
}

TEST(ServeFlags, UnknownOnesNameTheNearest) {
  const ServeArguments a = parse("--contxt-length 5");
  ASSERT_FALSE(a.refusals.empty());
  EXPECT_NE(a.refusals[0].find("the nearest is --context-length"), std::string::npos) << a.refusals[0];
}

TEST(ServeFlags, BadValuesAreRefused) {
  for (const char* line :
       {"--port x", "--port 70000", "--port", "--page-size 0", "--mem-fraction-static 2", "--log-level loud",
        "--sampling-defaults mine", "--load-format gguf", "--kv-cache-dtype fp8_e5m2", "a b"})
    EXPECT_FALSE(parse(line).refusals.empty()) << line;
}

TEST(ServeFlags, WhatIsNotBuiltIsRefusedWithAReason) {
  EXPECT_EQ(refused(parse("--tp 1 --ep-size 1 --dp-size 1 --pp-size 1 --nnodes 1 --disaggregation-mode null "
                          "--moe-a2a-backend none")),
            "");
  for (const char* line : {"--tp 8", "--tp-size=2", "--dp-size 2", "--pp-size 2", "--nnodes 2",
                           "--enable-dp-attention", "--enable-lora", "--lora-paths a b",
                           "--disaggregation-mode prefill", "--enable-eplb", "--enable-hierarchical-cache"}) {
    const ServeArguments a = parse(line);
    ASSERT_EQ(a.refusals.size(), 1u) << line;
    EXPECT_NE(a.refusals[0].find("refused: "), std::string::npos) << a.refusals[0];
  }
}

TEST(ServeFlags, NoEffectIsSaidOnce) {
  const ServeArguments a = parse(
      "--trust-remote-code --trust-remote-code --disable-radix-cache --cuda-graph-bs 1 2 4 --dtype bfloat16");
  EXPECT_EQ(a.notes.size(), 4u);
  EXPECT_EQ(refused(a), "");
}

// Every flag of the inventory is in the table. (Dashes for underscores.)
TEST(ServeFlags, TheInventoryIsKnown) {
  const char* names =
      "model_path tokenizer_path served_model_name load_format trust_remote_code context_length dtype "
      "quantization "
      "json_model_override_args revision download_dir tp_size ep_size dp_size pp_size moe_dp_size "
      "attn_cp_size dcp_size "
      "dwdp_size enable_dp_attention enable_dp_lm_head moe_dense_tp_size nnodes node_rank dist_init_addr "
      "load_balance_method moe_runner_backend moe_a2a_backend deepep_mode deepep_config "
      "deepep_dispatcher_output_dtype "
      "flashinfer_mxfp4_moe_precision disable_shared_experts_fusion enforce_shared_experts_fusion "
      "disable_flashinfer_cutlass_moe_fp4_allgather enable_fused_moe_sum_all_reduce enable_two_batch_overlap "
      "enable_single_batch_overlap enable_waterfill enable_eplb eplb_algorithm eplb_rebalance_num_iterations "
      "eplb_rebalance_layers_per_chunk ep_num_redundant_experts ep_dispatch_algorithm init_expert_location "
      "expert_distribution_recorder_mode expert_balancedness_report_mode elastic_ep_backend "
      "fp8_gemm_runner_backend "
      "fp4_gemm_runner_backend bf16_gemm_backend attention_backend prefill_attention_backend "
      "decode_attention_backend "
      "dsa_prefill_backend dsa_decode_backend dsa_topk_backend linear_attn_backend "
      "linear_attn_decode_backend "
      "linear_attn_prefill_backend linear_attn_verify_backend mamba_backend sampling_backend "
      "disable_flashinfer_autotune mem_fraction_static kv_cache_dtype page_size max_total_tokens "
      "max_running_requests "
      "max_queued_requests cpu_offload_gb swa_full_tokens_ratio mamba_full_memory_ratio max_mamba_cache_size "
      "mamba_ssm_dtype mamba_radix_cache_strategy mamba_track_interval chunked_prefill_size "
      "max_prefill_tokens "
      "schedule_policy schedule_conservativeness retraction_policy disable_radix_cache radix_eviction_policy "
      "disable_overlap_schedule enable_mixed_chunk num_continuous_decode_steps enable_priority_scheduling "
      "stream_interval cuda_graph_backend_decode cuda_graph_backend_prefill cuda_graph_max_bs_decode "
      "cuda_graph_bs_decode disable_prefill_cuda_graph disable_decode_cuda_graph disable_cuda_graph_padding "
      "enable_torch_compile disable_custom_all_reduce enable_nccl_nvls enable_symm_mem enable_mscclpp "
      "flashinfer_allreduce_fusion_backend host port api_key admin_api_key watchdog_timeout log_level "
      "log_requests "
      "enable_metrics enable_cache_report decode_log_interval enable_trace skip_server_warmup random_seed "
      "reasoning_parser tool_call_parser chat_template grammar_backend sampling_defaults "
      "enable_hierarchical_cache "
      "hicache_ratio hicache_size hicache_write_policy hicache_io_backend hicache_mem_layout "
      "hicache_storage_backend "
      "disaggregation_mode disaggregation_transfer_backend enable_deterministic_inference "
      "rl_on_policy_target";
  std::istringstream in(names);
  for (std::string name; in >> name;) {
    for (const std::string& why : parse("--" + name + " 1").refusals)
      EXPECT_EQ(why.find("unknown flag"), std::string::npos) << why;
  }
}

// The documentation's launches. On this build only the parallel sizes and cache types stand in the way.
TEST(ServeFlags, RecommendedLaunches) {
  const std::string qwen =
      "--model-path Qwen/Qwen3.5-397B-A17B --reasoning-parser qwen3 --tool-call-parser qwen3_coder "
      "--speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 "
      "--speculative-num-draft-tokens 4 --mem-fraction-static 0.8 --mamba-scheduler-strategy extra_buffer "
      "--page-size 64 "
      "--attention-backend trtllm_mha";
  EXPECT_EQ(refused(parse(qwen)), "");
  EXPECT_EQ(refused(parse(qwen + " --tp-size 8")), "--tp-size ");
  EXPECT_EQ(refused(parse(qwen + " --tp-size 8 --ep-size 8")), "--tp-size --ep-size ");
  const std::string nvfp4 =
      " --quantization modelopt_fp4 --moe-runner-backend flashinfer_trtllm --fp4-gemm-backend "
      "flashinfer_cutlass "
      "--chunked-prefill-size 32768 --max-prefill-tokens 32768 --max-running-requests 128 --stream-interval "
      "30 "
      "--disable-radix-cache";
  const ServeArguments a = parse(qwen + nvfp4 + " --tp-size 2 --ep-size 2 --kv-cache-dtype fp8_e4m3");
  EXPECT_EQ(refused(a), "--tp-size --ep-size --kv-cache-dtype ");
  EXPECT_EQ(a.options.engine.quantization, "modelopt_fp4");
  EXPECT_EQ(a.options.engine.moe_runner_backend, "flashinfer_trtllm");
  EXPECT_EQ(a.options.engine.chunked_prefill_size, 32768);
  EXPECT_EQ(refused(parse(
                qwen +
                " --tp 4 --mamba-ssm-dtype bfloat16 --mamba-track-interval 128 --chunked-prefill-size 2048")),
            "--tp ");
  const std::string glm =
      "--model-path zai-org/GLM-5 --reasoning-parser glm45 --tool-call-parser glm47 --speculative-algorithm "
      "EAGLE "
      "--speculative-num-steps 5 --speculative-eagle-topk 1 --speculative-num-draft-tokens 6";
  EXPECT_EQ(refused(parse(glm + " --tp 8")), "--tp ");
  EXPECT_EQ(refused(parse(glm + " --tp 8 --dp 8 --enable-dp-attention --moe-a2a-backend deepep "
                                "--speculative-attention-mode decode")),
            "--tp --dp --enable-dp-attention --moe-a2a-backend ");
}

TEST(ServeFlags, HelpIsGroupedAndEachGroupFitsAScreen) {
  std::istringstream in(serve_help());
  int lines = 0, groups = 0;
  for (std::string line; std::getline(in, line);) {
    groups += line.empty() ? 1 : 0;
    lines = line.empty() ? 0 : lines + 1;
    EXPECT_LE(lines, 24);
    EXPECT_LE(line.size(), 120u) << line;
  }
  EXPECT_GE(groups, 8);
}

}  // namespace
}  // namespace assay::cli
