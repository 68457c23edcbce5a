#pragma once
// Byte-level BPE: the vocabulary and the merges, in flat tables, and the merging of one piece of text.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::text {

class Bpe {
 public:
  static constexpr int32_t kMaxId = 1 << 24;

  // Build order: add_entry for the whole vocabulary, finish_vocabulary, add_merge by rank, finish_merges.
  // `content` as in the file (byte alphabet). False: the id or the content is there already, or is out of
  // range.
  bool add_entry(std::string_view content, int64_t id);
  void finish_vocabulary();
  // False if a part or the result is not in the vocabulary.
  bool add_merge(std::string_view left, std::string_view right);
  void finish_merges(bool ignore_merges);

  // Appends the ids of one piece. Bytes without a vocabulary entry give nothing. Thread-safe.
  void encode(std::string_view piece, std::vector<int32_t>* out) const;

  int32_t size() const { return static_cast<int32_t>(offsets_.size()) - 1; }  // 1 + the largest id
  // The bytes of an id; empty for an unknown one.
  std::string_view bytes_of(int32_t id) const;
  // By content as in the file.
  std::optional<int32_t> find(std::string_view content) const;

 private:
  struct Merge {
    uint32_t left = 0, right = 0;  // a free slot has result 0 and left == right == kFree
    uint32_t rank = 0;
    uint32_t result = 0;
  };
  struct Entry {
    std::string bytes;
    int32_t id;
  };

  int32_t lookup(std::string_view bytes) const;  // -1: not a byte-level entry
  const Merge* find_merge(uint32_t left, uint32_t right) const;
  void merge_short(std::vector<int32_t>* symbols) const;
  void merge_long(std::vector<int32_t>* symbols) const;
  void merge_piece(std::string_view piece, std::vector<int32_t>* symbols) const;

  std::vector<Entry> pending_;        // until finish_vocabulary
  std::vector<Merge> merge_list_;     // until finish_merges
  std::string arena_;                 // bytes of all entries, by id
  std::vector<uint32_t> offsets_{0};  // id -> start in arena_; one more at the end
  std::vector<int32_t> slots_;        // open addressing by bytes; -1 is free
  std::vector<bool> plain_;           // id spells bytes (its characters are in the byte alphabet)
  std::vector<std::pair<std::string, int32_t>> odd_;  // entries outside the byte alphabet, sorted
  std::vector<Merge> merges_;                         // open addressing by (left, right)
  int32_t byte_ids_[256];
  bool ignore_merges_ = false;
  // Does the whole piece become this one id? 0: not known yet, 1: no, 2: yes. A memo, filled by encode.
  mutable std::unique_ptr<std::atomic<uint8_t>[]> whole_;
};

}  // namespace assay::text
