#pragma once
// What happens to messages before a template sees them, and to the text after. Private to chat_template.cc.
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/chat_template.h"

namespace assay::text {

struct PreparedMessages {
  jinja::Value messages;
  std::string continued;  // the text that goes on, without the mark
};

// Drops nulls, copies reasoning to the names that templates know, parses tool-call arguments, and marks the
// end of the final message if it is to be continued. `source` is the template's text.
Result<PreparedMessages> prepare_messages(const ChatInput& input, std::string_view source,
                                          bool string_arguments);

// The rendered text up to the mark.
Result<jinja::String> cut_at_continuation(const jinja::String& text, const PreparedMessages& prepared);

}  // namespace assay::text
