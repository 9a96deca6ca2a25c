#include "tocca/methods/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;

Options options_of(const std::vector<std::pair<std::string, std::string>>& set) {
  Options options;
  for (const auto& [name, value] : set) set_option(options, name, value);
  return options;
}

std::string why(const std::vector<std::pair<std::string, std::string>>& set, Index views = 2) {
  return error_message<InputError>([&] { resolve(options_of(set), views); });
}

TEST(Resolve, LeavesEveryMethodOfTheTableAsItIs) {
  for (const Method& method : methods()) {
    const Method same =
        resolve(options_of({{"method", std::string(method.name)}}), std::max<Index>(2, method.least_views));
    EXPECT_EQ(same.projection, method.projection) << method.name;
    EXPECT_EQ(same.agreement, method.agreement) << method.name;
    EXPECT_EQ(same.decorrelation, method.decorrelation) << method.name;
    EXPECT_EQ(same.task, method.task) << method.name;
    EXPECT_EQ(same.pretraining, method.pretraining) << method.name;
  }
}

TEST(Resolve, PutsPartsInPlaceOfTheMethodsOwn) {
  const Method mixed = resolve(options_of({{"method", "tocca-nd"},
                                           {"projection", "whiten"},
                                           {"agreement", "trace-norm"},
                                           {"decorrelation", "soft"},
                                           {"pretraining", "trace-norm"},
                                           {"task", "lda"}}),
                               3);
  EXPECT_EQ(mixed.projection, Projection::whiten);
  EXPECT_EQ(mixed.agreement, Agreement::trace_norm);
  EXPECT_TRUE(mixed.decorrelation);
  EXPECT_TRUE(mixed.pretraining);
  EXPECT_EQ(mixed.task, Task::lda);
  EXPECT_EQ(mixed.classifier, Classifier::lda);
}

TEST(Resolve, SaysWhyPartsDoNotGoTogether) {
  EXPECT_THAT(why({{"method", "tocca-w"}, {"projection", "cca"}}, 3), HasSubstr("maps two views, got 3"));
  EXPECT_THAT(why({{"method", "nn"}, {"projection", "cca"}}), HasSubstr("space that views share"));
  EXPECT_THAT(why({{"method", "nn"}, {"agreement", "trace-norm"}}), HasSubstr("two views in a space they share"));
  EXPECT_THAT(why({{"method", "nn"}, {"agreement", "l2"}}), HasSubstr("space that views share"));
  EXPECT_THAT(why({{"method", "nn"}, {"task", "retrieval"}}), HasSubstr("two views in a space they share"));
  EXPECT_THAT(why({{"method", "tocca-w"}, {"pretraining", "trace-norm"}}, 1), HasSubstr("two views"));
  EXPECT_THAT(why({{"method", "nn"}, {"task", "clustering"}}), HasSubstr("space that views share"));
  EXPECT_THAT(why({{"method", "tocca-w"}, {"task", "lda"}, {"mixup", "0.2"}}), HasSubstr("mixup"));
  EXPECT_THAT(why({{"method", "spls-da"}, {"prediction", "joint"}}), HasSubstr("own regression"));
  EXPECT_THAT(why({{"method", "dcca"}, {"agreement", "none"}}), HasSubstr("nothing to learn"));
  EXPECT_THAT(why({{"method", "softcca"}, {"decorrelation", "none"}}), HasSubstr("all projections are the same"));
  EXPECT_THAT(why({{"method", "rcca"}, {"projection", "whiten"}}), HasSubstr("does not have"));
  EXPECT_THAT(why({{"method", "svm"}, {"task", "survival"}}), HasSubstr("needs a network"));
  EXPECT_THAT(why({{"method", "dcca"}, {"task", "regression"}}), HasSubstr("learns without a task"));
  EXPECT_THAT(why({{"method", "ccal-rank"}, {"task", "regression"}}), HasSubstr("would be another method's"));
  EXPECT_THAT(why({{"method", "tocca-w"}, {"task", "regresion"}}), HasSubstr("did you mean regression"));
}

TEST(ParseNumbers, ReadsAListOrSaysWhatIsWrong) {
  EXPECT_EQ(parse_numbers("keep", "", 0), (std::vector<double>{}));
  EXPECT_EQ(parse_numbers("keep", "20", 0), (std::vector<double>{20}));
  EXPECT_EQ(parse_numbers("keep", "20,5", 0), (std::vector<double>{20, 5}));
  for (const char* text : {"-1", "1,,2", "a", "1;2", "nan", "5,", ","}) {
    EXPECT_THAT(error_message<InputError>([&] { parse_numbers("keep", text, 0); }), HasSubstr("keep: got")) << text;
  }
}

}  // namespace
}  // namespace tocca
