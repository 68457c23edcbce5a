#include "text/stop_matcher.h"

namespace assay::text {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)), nodes_(1) {
  for (size_t i = 0; i < stops_.size(); ++i) add(static_cast<int32_t>(i));
  link();
}

int32_t StopMatcher::child(int32_t node, uint8_t byte) const {
  for (const auto& [key, target] : nodes_[static_cast<size_t>(node)].next)
    if (key == byte) return target;
  return -1;
}

void StopMatcher::add(int32_t stop) {
  int32_t node = 0;
  for (const char c : stops_[static_cast<size_t>(stop)]) {
    const auto byte = static_cast<uint8_t>(c);
    int32_t next = child(node, byte);
    if (next < 0) {
      next = static_cast<int32_t>(nodes_.size());
      nodes_[static_cast<size_t>(node)].next.emplace_back(byte, next);
      Node fresh;
      fresh.depth = nodes_[static_cast<size_t>(node)].depth + 1;
      nodes_.push_back(std::move(fresh));
    }
    node = next;
  }
  if (node != 0) nodes_[static_cast<size_t>(node)].stop = stop;
}

int32_t StopMatcher::step(int32_t node, uint8_t byte) const {
  for (;;) {
    if (const int32_t next = child(node, byte); next >= 0) return next;
    if (node == 0) return 0;
    node = nodes_[static_cast<size_t>(node)].fail;
  }
}

// Breadth first, so that the suffix links of shorter prefixes are known.
void StopMatcher::link() {
  std::vector<int32_t> order{0};
  for (size_t i = 0; i < order.size(); ++i) {
    const int32_t node = order[i];
    for (const auto& [byte, next] : nodes_[static_cast<size_t>(node)].next) {
      Node& target = nodes_[static_cast<size_t>(next)];
      if (node != 0) target.fail = step(nodes_[static_cast<size_t>(node)].fail, byte);
      if (target.stop < 0) target.stop = nodes_[static_cast<size_t>(target.fail)].stop;
      order.push_back(next);
    }
  }
}

StopMatcher::Output StopMatcher::push(std::string_view piece) {
  if (matched_ >= 0) return {"", true, stops_[static_cast<size_t>(matched_)]};
  for (size_t i = 0; i < piece.size(); ++i) {
    state_ = step(state_, static_cast<uint8_t>(piece[i]));
    const Node& node = nodes_[static_cast<size_t>(state_)];
    if (node.stop < 0) continue;
    matched_ = node.stop;
    const std::string& stop = stops_[static_cast<size_t>(matched_)];
    held_.append(piece.substr(0, i + 1));
    held_.resize(held_.size() - stop.size());
    return {std::exchange(held_, {}), true, stop};
  }
  held_.append(piece);
  const size_t sure = held_.size() - static_cast<size_t>(nodes_[static_cast<size_t>(state_)].depth);
  Output out{held_.substr(0, sure), false, ""};
  held_.erase(0, sure);
  return out;
}

std::string StopMatcher::flush() {
  state_ = 0;
  return std::exchange(held_, {});
}

}  // namespace assay::text
