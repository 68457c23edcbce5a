#pragma once
// A fake engine: tokens are a function of prompt, seed, choice and position, one a step and request.
#include "serve/engine_process.h"

namespace assay::tests {

Result<serve::LoadedPort> load_fake_engine(const engine::EngineOptions& options, int32_t tokenizer_size,
                                           engine::Engine::EventSink sink, const engine::Progress& progress);

}  // namespace assay::tests
