#include "serve/engine_process.h"

namespace assay::serve {
namespace {

class RealEngine final : public EnginePort {
 public:
  explicit RealEngine(std::unique_ptr<engine::Engine> engine) : engine_(std::move(engine)) {}
  void submit(engine::Request request) override { engine_->submit(std::move(request)); }
  void cancel(engine::RequestId id) override { engine_->cancel(id); }
  void run(std::stop_token stop) override { engine_->run(stop); }
  engine::EngineStats stats() const override { return engine_->stats(); }

 private:
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace

Result<LoadedPort> load_real_engine(const engine::EngineOptions& options, int32_t tokenizer_size,
                                    engine::Engine::EventSink sink, const engine::Progress& progress) {
  Result<engine::LoadedEngine> loaded =
      engine::load_engine(options, tokenizer_size, std::move(sink), progress);
  if (!loaded) return loaded.error();
  return LoadedPort{loaded->card, std::make_unique<RealEngine>(std::move(loaded->engine))};
}

}  // namespace assay::serve
