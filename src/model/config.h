#pragma once
// Config: config.json with every wrong or missing field collected, so that one load reports them all.
#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::model {

class Config {
 public:
  static Result<Config> load(const std::string& folder);
  static Result<Config> parse(std::string_view json);

  const std::string& model_type() const { return model_type_; }
  const std::string& architecture() const { return architecture_; }

  // Fields of text_config where there is one, else of the root. Integers must lie in [1, 2^24].
  int64_t integer(const char* name);
  int64_t integer(const char* name, int64_t fallback);
  double number(const char* name, double fallback);
  bool boolean(const char* name, bool fallback);
  std::string text(const char* name, const std::string& fallback);
  std::vector<std::string> texts(const char* name);
  std::vector<int64_t> integers(const char* name);
  bool has(const char* name) const;

  // The rope table: rope_parameters, or the older rope_scaling / rope_theta / partial_rotary_factor.
  struct Rope {
    std::string type = "default";
    double theta = 0;
    double partial_rotary_factor = 1;
  };
  Rope rope(double default_theta, double default_partial);

  void refuse(std::string problem) { problems_.push_back(std::move(problem)); }
  // Ends the reading: the error lists every problem.
  Result<void> finish() const;

 private:
  void refuse_unknown_rope(const char* table, const boost::json::object& fields);
  const boost::json::value* find(const char* name) const;
  std::string model_type_, architecture_;
  boost::json::object fields_;  // the text part
  boost::json::object root_;
  std::vector<std::string> problems_;
};

}  // namespace assay::model
