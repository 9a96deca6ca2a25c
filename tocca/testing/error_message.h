/// What an error tells the user, for tests of message texts.
#pragma once

#include <string>
#include <utility>

namespace tocca::testing {

/// The message of the exception of type E that `action` throws; a text saying so if it throws none.
///     EXPECT_THAT(error_message<InputError>([] { parse("x"); }), HasSubstr("got 'x'"));
template <class E, class Action>
std::string error_message(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const E& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

}  // namespace tocca::testing
