#pragma once
// StopMatcher: finds the first stop string in a stream of text pieces. The stop whose match ends first wins,
// the longest of those that end together; nothing of the match is ever sent. The result depends neither on
// how the text is cut nor on the order of the stops.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::text {

class StopMatcher {
 public:
  // Empty stop strings are ignored.
  explicit StopMatcher(std::vector<std::string> stops);

  struct Output {
    std::string text;      // may be sent now
    bool matched = false;  // the stream is over; `stop` says which string ended it
    std::string stop;
  };
  // After a match further pieces give empty outputs with matched = true.
  Output push(std::string_view piece);
  // The held-back prefix of a stop string, at the end of the stream; empty after a match.
  std::string flush();

 private:
  struct Node {
    std::vector<std::pair<uint8_t, int32_t>> next;
    int32_t fail = 0;   // the longest proper suffix that is a prefix of a stop
    int32_t depth = 0;  // bytes matched so far: what must be held back
    int32_t stop = -1;  // the longest stop that ends here
  };
  void add(int32_t stop);
  void link();
  int32_t child(int32_t node, uint8_t byte) const;
  int32_t step(int32_t node, uint8_t byte) const;

  std::vector<std::string> stops_;
  std::vector<Node> nodes_;
  int32_t state_ = 0;
  std::string held_;
  int32_t matched_ = -1;
};

}  // namespace assay::text
