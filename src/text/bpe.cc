#include "text/bpe.h"

#include <algorithm>
#include <cstring>
#include <queue>

#include "base/check.h"
#include "text/byte_alphabet.h"

namespace assay::text {
namespace {

constexpr uint32_t kFree = UINT32_MAX;
constexpr size_t kShort = 64;  // symbols; a scan beats a heap below

uint64_t mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t hash_bytes(std::string_view bytes) {
  uint64_t h = 0x9E3779B97F4A7C15u ^ bytes.size();
  size_t i = 0;
  for (uint64_t word = 0; i + 8 <= bytes.size(); i += 8) {
    std::memcpy(&word, bytes.data() + i, 8);
    h = mix(h ^ word, 0xD6E8FEB86659FD93u);
  }
  uint64_t tail = 0;
  std::memcpy(&tail, bytes.data() + i, bytes.size() - i);
  return mix(h ^ tail, 0xA0761D6478BD642Fu);
}

uint64_t hash_pair(uint32_t left, uint32_t right) {
  return mix((uint64_t{left} << 32 | right) ^ 0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u);
}

size_t slot_of(uint64_t hash, size_t slots) {
  return static_cast<size_t>(static_cast<unsigned __int128>(hash) * slots >> 64);
}

// Room for `count` keys at 75 % load.
size_t slots_for(size_t count) {
  return count + count / 3 + 2;
}

}  // namespace

bool Bpe::add_entry(std::string_view content, int64_t id) {
  if (id < 0 || id >= kMaxId) return false;
  const int32_t small = static_cast<int32_t>(id);
  if (static_cast<size_t>(small) >= plain_.size()) plain_.resize(static_cast<size_t>(small) + 1);
  auto bytes = from_byte_alphabet(content);
  plain_[static_cast<size_t>(small)] = bytes.has_value();
  if (!bytes) odd_.emplace_back(content, small);
  pending_.push_back({bytes ? std::move(*bytes) : std::string(content), small});
  return true;
}

void Bpe::finish_vocabulary() {
  std::sort(pending_.begin(), pending_.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
  std::sort(odd_.begin(), odd_.end());
  size_t total = 0;
  for (const Entry& entry : pending_) total += entry.bytes.size();
  CHECK(total < UINT32_MAX, "a vocabulary of {} bytes", total);
  arena_.reserve(total);
  offsets_.assign(1, 0);
  offsets_.reserve(plain_.size() + 1);
  for (const Entry& entry : pending_) {
    if (static_cast<size_t>(entry.id) + 1 < offsets_.size())
      continue;  // the same id again: the first one stays
    offsets_.resize(static_cast<size_t>(entry.id) + 1, offsets_.back());
    arena_ += entry.bytes;
    offsets_.push_back(static_cast<uint32_t>(arena_.size()));
  }
  slots_.assign(slots_for(pending_.size()), -1);
  for (int32_t id = 0; id < size(); ++id) {
    const std::string_view bytes = bytes_of(id);
    if (bytes.empty() || !plain_[static_cast<size_t>(id)]) continue;
    size_t slot = slot_of(hash_bytes(bytes), slots_.size());
    while (slots_[slot] >= 0 && bytes_of(slots_[slot]) != bytes)
      slot = slot + 1 == slots_.size() ? 0 : slot + 1;
    slots_[slot] = id;
  }
  for (int b = 0; b < 256; ++b) {
    const char c = static_cast<char>(b);
    byte_ids_[b] = lookup(std::string_view(&c, 1));
  }
  whole_ = std::make_unique<std::atomic<uint8_t>[]>(static_cast<size_t>(size()) + 1);
  std::vector<Entry>().swap(pending_);
}

std::string_view Bpe::bytes_of(int32_t id) const {
  if (id < 0 || id >= size()) return {};
  const auto at = static_cast<size_t>(id);
  return std::string_view(arena_).substr(offsets_[at], offsets_[at + 1] - offsets_[at]);
}

int32_t Bpe::lookup(std::string_view bytes) const {
  if (bytes.empty() || slots_.empty()) return -1;
  for (size_t slot = slot_of(hash_bytes(bytes), slots_.size()); slots_[slot] >= 0;) {
    if (bytes_of(slots_[slot]) == bytes) return slots_[slot];
    slot = slot + 1 == slots_.size() ? 0 : slot + 1;
  }
  return -1;
}

std::optional<int32_t> Bpe::find(std::string_view content) const {
  if (const auto bytes = from_byte_alphabet(content)) {
    const int32_t id = lookup(*bytes);
    return id < 0 ? std::nullopt : std::optional(id);
  }
  const auto at =
      std::lower_bound(odd_.begin(), odd_.end(), content,
                       [](const auto& entry, std::string_view value) { return entry.first < value; });
  return at != odd_.end() && at->first == content ? std::optional(at->second) : std::nullopt;
}

bool Bpe::add_merge(std::string_view left, std::string_view right) {
  const auto a = find(left), b = find(right), ab = find(std::string(left) + std::string(right));
  if (!a || !b || !ab) return false;
  const auto rank = static_cast<uint32_t>(merge_list_.size());
  merge_list_.push_back(
      {static_cast<uint32_t>(*a), static_cast<uint32_t>(*b), rank, static_cast<uint32_t>(*ab)});
  return true;
}

void Bpe::finish_merges(bool ignore_merges) {
  ignore_merges_ = ignore_merges;
  merges_.assign(slots_for(merge_list_.size()), {kFree, kFree, 0, 0});
  for (const Merge& merge : merge_list_) {
    size_t slot = slot_of(hash_pair(merge.left, merge.right), merges_.size());
    while (merges_[slot].left != kFree &&
           (merges_[slot].left != merge.left || merges_[slot].right != merge.right))
      slot = slot + 1 == merges_.size() ? 0 : slot + 1;
    merges_[slot] = merge;  // the same pair again: the last one stays
  }
  std::vector<Merge>().swap(merge_list_);
}

const Bpe::Merge* Bpe::find_merge(uint32_t left, uint32_t right) const {
  for (size_t slot = slot_of(hash_pair(left, right), merges_.size()); merges_[slot].left != kFree;) {
    if (merges_[slot].left == left && merges_[slot].right == right) return &merges_[slot];
    slot = slot + 1 == merges_.size() ? 0 : slot + 1;
  }
  return nullptr;
}

void Bpe::merge_short(std::vector<int32_t>* symbols) const {
  const Merge* best[kShort];  // of the pair (i, i + 1)
  std::vector<int32_t>& s = *symbols;
  const auto pair_at = [&](size_t i) {
    return find_merge(static_cast<uint32_t>(s[i]), static_cast<uint32_t>(s[i + 1]));
  };
  size_t count = s.size();
  for (size_t i = 0; i + 1 < count; ++i) best[i] = pair_at(i);
  while (count > 1) {
    size_t at = count;
    for (size_t i = 0; i + 1 < count; ++i)
      if (best[i] != nullptr && (at == count || best[i]->rank < best[at]->rank)) at = i;
    if (at == count) break;
    s[at] = static_cast<int32_t>(best[at]->result);
    std::copy(s.begin() + static_cast<ptrdiff_t>(at) + 2, s.begin() + static_cast<ptrdiff_t>(count),
              s.begin() + static_cast<ptrdiff_t>(at) + 1);
    for (size_t i = at + 1; i + 2 < count; ++i) best[i] = best[i + 1];
    --count;
    if (at > 0) best[at - 1] = pair_at(at - 1);
    if (at + 1 < count) best[at] = pair_at(at);
  }
  s.resize(count);
}

void Bpe::merge_long(std::vector<int32_t>* symbols) const {
  struct Node {
    int32_t id, previous, next;  // id -1: merged into its left neighbour
  };
  struct Candidate {
    uint32_t rank;
    int32_t at;
    uint32_t left, right, result;
    bool operator>(const Candidate& o) const { return rank != o.rank ? rank > o.rank : at > o.at; }
  };
  std::vector<Node> nodes(symbols->size());
  const auto count = static_cast<int32_t>(nodes.size());
  for (int32_t i = 0; i < count; ++i)
    nodes[static_cast<size_t>(i)] = {(*symbols)[static_cast<size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1};
  const auto node = [&](int32_t i) -> Node& { return nodes[static_cast<size_t>(i)]; };
  std::vector<Candidate> first;
  const auto candidate = [&](int32_t at, auto&& add) {
    if (at < 0 || node(at).next < 0) return;
    const auto left = static_cast<uint32_t>(node(at).id),
               right = static_cast<uint32_t>(node(node(at).next).id);
    if (const Merge* m = find_merge(left, right)) add(Candidate{m->rank, at, left, right, m->result});
  };
  for (int32_t i = 0; i < count; ++i) candidate(i, [&](const Candidate& c) { first.push_back(c); });
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue(std::greater<>(),
                                                                               std::move(first));
  while (!queue.empty()) {
    const Candidate c = queue.top();
    queue.pop();
    Node& left = node(c.at);
    if (left.id < 0 || static_cast<uint32_t>(left.id) != c.left || left.next < 0) continue;
    Node& right = node(left.next);
    if (static_cast<uint32_t>(right.id) != c.right) continue;
    left.id = static_cast<int32_t>(c.result);
    right.id = -1;
    left.next = right.next;
    if (left.next >= 0) node(left.next).previous = c.at;
    candidate(left.previous, [&](const Candidate& n) { queue.push(n); });
    candidate(c.at, [&](const Candidate& n) { queue.push(n); });
  }
  size_t kept = 0;
  for (const Node& n : nodes)
    if (n.id >= 0) (*symbols)[kept++] = n.id;
  symbols->resize(kept);
}

void Bpe::merge_piece(std::string_view piece, std::vector<int32_t>* symbols) const {
  symbols->clear();
  for (const char c : piece)
    if (const int32_t id = byte_ids_[static_cast<uint8_t>(c)]; id >= 0) symbols->push_back(id);
  if (symbols->size() <= kShort)
    merge_short(symbols);
  else
    merge_long(symbols);
}

void Bpe::encode(std::string_view piece, std::vector<int32_t>* out) const {
  const int32_t id = lookup(piece);
  if (id >= 0 && ignore_merges_) return out->push_back(id);
  uint8_t known = id < 0 ? 1 : whole_[static_cast<size_t>(id)].load(std::memory_order_relaxed);
  if (known == 2) return out->push_back(id);
  static thread_local std::vector<int32_t> symbols;
  merge_piece(piece, &symbols);
  if (known == 0) {
    known = symbols.size() == 1 && symbols[0] == id ? 2 : 1;
    whole_[static_cast<size_t>(id)].store(known, std::memory_order_relaxed);
  }
  out->insert(out->end(), symbols.begin(), symbols.end());
  if (symbols.capacity() > (1 << 18)) symbols = std::vector<int32_t>();
}

}  // namespace assay::text
