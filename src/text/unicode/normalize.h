#pragma once
// Unicode normal forms with the data of Unicode 9: newer code points stay as they are and stay where they
// are. (Published tokenizers were made with a library of that age; newer data gives other ids.)
#include <string>
#include <string_view>

namespace assay::text {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

// `text` must be well formed.
std::string normalize(std::string_view text, NormalForm form);
// True if NFC surely changes nothing; false means "perhaps". Fast on ASCII and CJK.
bool is_surely_nfc(std::string_view text);

}  // namespace assay::text
