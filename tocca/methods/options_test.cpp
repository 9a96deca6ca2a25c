#include "tocca/methods/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;

TEST(Options, EveryFieldReadsBackWhatItWrites) {
  Options options;
  options.learning_rate = 1.0 / 3;
  options.seed = 18446744073709551615U;
  options.covariance = "batch";
  Options copy;
  for (const auto& [name, text] : option_texts(options)) set_option(copy, name, text);
  EXPECT_EQ(option_texts(copy), option_texts(options));
  EXPECT_EQ(copy.learning_rate, options.learning_rate);
  EXPECT_EQ(option_texts(options).size(), option_fields().size());
}

TEST(Options, DefaultsAreValid) { EXPECT_NO_THROW(Options().validate()); }

TEST(Options, BadOnesAreNamedWithTheirConstraint) {
  const auto message = [](const char* name, const char* value) {
    Options options;
    return error_message<InputError>([&] { set_option(options, name, value); });
  };
  EXPECT_EQ(message("dropout", "1"), "[options] dropout: got 1, need 0 to less than 1");
  EXPECT_EQ(message("batch_size", "1"), "[options] batch_size: got 1, need 2 to 1000000000");
  EXPECT_EQ(message("learning_rate", "1e30"), "[options] learning_rate: got 1e+30, need 1e-12 to 1000000000");
  EXPECT_EQ(message("epochs", "ten"), "[options] epochs: got 'ten', need a whole number");
  EXPECT_EQ(message("momentum", "nan"), "[options] momentum: got nan, need 0 to less than 1");
  EXPECT_EQ(message("covariance", "both"), "[options] covariance: got 'both', need one of running, batch");
  EXPECT_THAT(message("learning_rte", "1"), HasSubstr("unknown option 'learning_rte': did you mean learning_rate"));
  EXPECT_THAT(message("seed", "-1"), HasSubstr("seed: got '-1', need a whole number"));
}

}  // namespace
}  // namespace tocca
