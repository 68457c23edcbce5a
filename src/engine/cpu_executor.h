#pragma once
// CpuExecutor: runs steps on a model, on a thread of its own.
#include <memory>

#include "engine/executor.h"
#include "model/model.h"

namespace assay::engine {

// Ids at or above `token_limit` are never drawn.
std::unique_ptr<Executor> make_cpu_executor(std::unique_ptr<model::Model> model, int32_t token_limit);

}  // namespace assay::engine
