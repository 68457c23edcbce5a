#pragma once
// Where fixtures lie: $ASSAY_FIXTURES, ../shared beside the project, or what the project itself carries.
#include <cstdlib>
#include <filesystem>
#include <string>

namespace assay {

// The folder of a fixture ("golden/NAME", "models/tiny-chat"), or "" when this machine does not have it.
inline std::string fixture(const std::string& name) {
  namespace fs = std::filesystem;
  const std::string source = ASSAY_SOURCE_DIR;
  const char* given = std::getenv("ASSAY_FIXTURES");
  for (const std::string& root :
       {given != nullptr ? std::string(given) : source + "/../shared", source + "/tests/data"}) {
    std::error_code ignored;
    if (fs::exists(root + "/" + name, ignored)) return root + "/" + name;
  }
  if (name == "models/tiny-chat") return source + "/models/tiny";
  return "";
}

}  // namespace assay
