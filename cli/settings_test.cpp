#include "cli/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/testing.h"
#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"

namespace tocca::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tocca::testing::error_message;
using tocca::testing::TempDir;

std::string config_error(const std::string& toml) {
  const TempDir dir;
  const std::string path = dir.write("run.toml", toml);
  Options options;
  return error_message<InputError>([&] { read_config(path, options); });
}

TEST(Config, SetsOptionsOfEveryType) {
  const TempDir dir;
  const std::string path =
      dir.write("run.toml", "method = \"tocca-sd\"\nn_components = 7\nlearning_rate = 1e-2\ndropout = 0\nseed = 12\n");
  Options options;
  read_config(path, options);
  EXPECT_EQ(options.method, "tocca-sd");
  EXPECT_EQ(options.n_components, 7);
  EXPECT_EQ(options.learning_rate, 0.01);
  EXPECT_EQ(options.dropout, 0);
  EXPECT_EQ(options.seed, 12U);
}

TEST(Config, TakesListsAsArraysNumbersOrTexts) {
  const TempDir dir;
  const auto read = [&](const std::string& toml) {
    Options options;
    read_config(dir.write("run.toml", toml), options);
    return options;
  };
  EXPECT_EQ(read("keep = [10, 5]\n").keep, "10,5");
  EXPECT_EQ(read("keep = 10\n").keep, "10");
  EXPECT_EQ(read("keep = \"10,5\"\n").keep, "10,5");
  EXPECT_EQ(read("task_weights = [1, 0.5]\n").task_weights, "1,0.5");
  EXPECT_THAT(config_error("keep = [[10], 5]\n"), HasSubstr("keep: got an array in an array"));
  EXPECT_THAT(config_error("n_components = [10, 5]\n"), HasSubstr("n_components: got an array, need a whole number"));
  EXPECT_THAT(config_error("batches = 3\n"), HasSubstr("'3'"));
}

TEST(Config, NamesFileLineAndKeyOfWhatItRefuses) {
  EXPECT_THAT(config_error("epochs = 5\nbatch_sise = 3\n"),
              AllOf(HasSubstr("run.toml:2]"), HasSubstr("'batch_sise'"), HasSubstr("did you mean batch_size")));
  EXPECT_THAT(config_error("epochs = 2.5\n"), AllOf(HasSubstr("run.toml:1]"), HasSubstr("epochs: got a number, need a "
                                                                                        "whole number")));
  EXPECT_THAT(config_error("epochs = \"5\"\n"), HasSubstr("epochs: got a text, need a whole number"));
  EXPECT_THAT(config_error("method = true\n"), HasSubstr("method: got true or false, need a text"));
  EXPECT_THAT(config_error("\ndropout = 1.5\n"), AllOf(HasSubstr("run.toml:2]"), HasSubstr("dropout: got 1.5")));
  EXPECT_THAT(config_error("[train]\nepochs = 5\n"), AllOf(HasSubstr("run.toml:1]"), HasSubstr("'train'")));
  EXPECT_THAT(config_error("epochs = = 5\n"), HasSubstr("run.toml:1]"));
}

TEST(Settings, FlagsOverrideSetWhichOverridesTheConfig) {
  const TempDir dir;
  std::ostringstream out, err;
  CommonOptions common;
  common.threads = "2";
  common.seed = "9";
  const Session session({"fit"}, common, out, err);
  SettingsRequest request;
  request.config = dir.write("run.toml", "epochs = 1\nhidden_size = 10\nn_components = 2\nseed = 3\n");
  request.sets = {"hidden_size=20", "n_components=3"};
  request.direct = {{"n_components", "4"}, {"task", ""}};
  Options options;
  apply_settings(request, session, options);
  EXPECT_EQ(options.epochs, 1);
  EXPECT_EQ(options.hidden_size, 20);
  EXPECT_EQ(options.n_components, 4);
  EXPECT_EQ(options.seed, 9U);
  EXPECT_EQ(options.threads, 2);
}

TEST(Settings, RefusesASetWithoutAValue) {
  std::ostringstream out, err;
  const Session session({"fit"}, {}, out, err);
  Options options;
  SettingsRequest request;
  request.sets = {"epochs"};
  EXPECT_THAT(error_message<InputError>([&] { apply_settings(request, session, options); }),
              HasSubstr("need KEY=VALUE"));
}

}  // namespace
}  // namespace tocca::cli
