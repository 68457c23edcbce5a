#pragma once
// ModelSpec: what config.json says, as numbers that the forward understands. Families fill it; nothing else
// reads JSON.
#include <cstdint>
#include <string>
#include <vector>

#include "moe/router.h"

namespace assay::model {

enum class Mixer : uint8_t { attention, delta };

struct AttentionSpec {
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t rotary_dim = 0;  // the first values of a head that turn; half-split pairs
  double rope_theta = 1e4;
  bool head_norms = true;    // RMS norms of every q and k head
  bool output_gate = false;  // q_proj also gives a gate per head: [q | gate] head by head
};

struct DeltaSpec {
  int64_t key_heads = 0;
  int64_t value_heads = 0;
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  int64_t conv_width = 0;
};

// The feed-forward of one layer. Dense = no routed experts, one ungated shared one.
struct FfnSpec {
  int64_t intermediate = 0;  // of a routed expert
  int64_t shared_intermediate = 0;
  bool shared_gate = false;
  moe::RouterSpec router;
};

struct LayerSpec {
  Mixer mixer = Mixer::attention;
  FfnSpec ffn;
};

struct ModelSpec {
  std::string family;
  std::string architecture;
  int64_t hidden = 0;
  int64_t vocab = 0;
  int64_t max_positions = 0;
  float eps = 1e-6f;
  bool tied_head = false;
  bool zero_centred_norms = false;  // stored norm weights are w - 1 (all but the gated norm's)
  AttentionSpec attention;
  DeltaSpec delta;
  std::vector<LayerSpec> layers;

  int64_t count(Mixer mixer) const {
    int64_t n = 0;
    for (const LayerSpec& layer : layers) n += layer.mixer == mixer;
    return n;
  }
};

}  // namespace assay::model
