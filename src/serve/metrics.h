#pragma once
// Metrics: the door's own counters, and the Prometheus text of them and of the engine's.
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "serve/engine_link.h"

namespace assay::serve {

class Metrics {
 public:
  void count_http(std::string_view route, int status);
  void count_finish(std::string_view reason);
  void count_abort(std::string_view reason);
  void count_unknown_fields(size_t n);
  void observe_first_token(double seconds);
  void observe_whole(double seconds);

  struct Gauges {
    int connections = 0;
    size_t in_flight = 0;  // engine requests the door has open
    std::string model;
  };
  std::string prometheus(const EngineState& engine, const Gauges& gauges) const;

 private:
  struct Histogram {
    static constexpr std::array<double, 12> kBounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                       0.5,   1,    2.5,   5,    10,  60};
    std::array<uint64_t, kBounds.size() + 1> counts{};
    double sum = 0;
    void observe(double value);
    void print(std::string* out, const char* name, const char* help) const;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> http_;
  std::map<std::string, uint64_t, std::less<>> finished_, aborted_;
  uint64_t unknown_fields_ = 0;
  Histogram first_token_, whole_;
};

}  // namespace assay::serve
