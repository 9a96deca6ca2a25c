#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/testing.h"

namespace tocca::cli {
namespace {

using ::testing::AllOf;
using testing::content;
using testing::Files;
using ::testing::HasSubstr;
using testing::lines;
using testing::Outcome;
using ::testing::StartsWith;
using testing::tocca;
using testing::with;

// Refused with one line, and neither is a model written nor one that was there touched.
void expect_refused(const Files& files, const std::vector<std::string>& arguments, const std::string& what) {
  files.dir.write("model.safetensors", "was here before");
  const Outcome outcome = tocca(arguments);
  EXPECT_EQ(outcome.code, kBadInput);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("tocca: "), HasSubstr(what)));
  EXPECT_EQ(lines(outcome.err).size(), 1U) << outcome.err;
  EXPECT_EQ(content(files.model()), "was here before");
}

TEST(Fit, WritesAModelAndTellsWhatItRead) {
  const Files files;
  const Outcome outcome = tocca(files.fit());
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("left        90        5"), HasSubstr("joined by id"),
                                 HasSubstr("90 of 90 samples, 3 classes"), HasSubstr("completed 4 epochs"),
                                 HasSubstr("accuracy"), HasSubstr(files.model())));
  EXPECT_TRUE(std::filesystem::exists(files.model()));
}

TEST(Fit, SaysItInJson) {
  const Files files;
  const nlohmann::json result = tocca(files.fit({"--json", "--seed", "7"})).json();
  EXPECT_EQ(result["command"], "fit");
  EXPECT_EQ(result["seed"], 7);
  EXPECT_EQ(result["method"], "tocca-w");
  EXPECT_EQ(result["status"], "completed");
  EXPECT_EQ(result["epochs"], 4);
  EXPECT_EQ(result["views"][0]["columns"], 5);
  EXPECT_EQ(result["rows"][0]["metric"], "accuracy");
  EXPECT_EQ(result["rows"][0]["n"], 90);
  EXPECT_GT(result["rows"][0]["mean"], 0.3);
  EXPECT_TRUE(result["rows"][0]["se"].is_null());
}

TEST(Fit, IsQuietWhenAsked) {
  const Files files;
  const Outcome outcome = tocca(files.fit({"--quiet"}));
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST(Fit, WritesAReport) {
  const Files files;
  const std::string folder = files.dir.file("new/report");
  EXPECT_EQ(tocca(files.fit({"--report", folder})).code, kSuccess);
  EXPECT_THAT(content(folder + "/report.html"), AllOf(HasSubstr("<svg"), HasSubstr("hidden_size")));
  const std::vector<std::string> history = lines(content(folder + "/history.csv"));
  ASSERT_EQ(history.size(), 5U);
  EXPECT_THAT(history[0], StartsWith("epoch,task,agreement"));
  EXPECT_THAT(history[4], StartsWith("4,"));
}

TEST(Fit, RefusesWhatItCannotRead) {
  const Files files;
  const std::vector<std::string> start{"fit", "--model", files.model()};
  expect_refused(files, with(start, {"--view", "left.csv"}), "need NAME=FILE");
  expect_refused(files, with(start, {"--view", "left=" + files.dir.file("none.csv")}), "none.csv");
  expect_refused(files, files.fit({"--view", "left=" + files.dir.file("left.csv")}), "'left'");
  expect_refused(files, files.fit({"--id", "patient"}), "patient");
}

TEST(Fit, RefusesLabelsThatAreNotThere) {
  const Files files;
  std::vector<std::string> start = with(files.both(), {"--model", files.model()});
  start.insert(start.begin(), "fit");
  expect_refused(files, start, "needs labels");
  expect_refused(files, with(start, {"--labels", files.dir.file("labels.csv") + ":clas"}), "class");
  expect_refused(files, with(start, {"--labels", files.dir.file("labels.csv")}), "class");
  expect_refused(files, with(start, {"--labels", files.dir.file("left.csv") + ":l0"}), "learn from the answer");
}

TEST(Fit, WarnsOfLabelsThatAreAllEmpty) {
  const Files files;
  std::string empty = "sample,class\n";
  for (int i = 0; i < 90; ++i) empty += "p" + std::to_string(i) + ",\n";
  const std::string labels = files.dir.write("empty.csv", empty);
  std::vector<std::string> arguments = with(files.both(), {"--labels", labels, "--model", files.model()});
  arguments.insert(arguments.begin(), {"fit", "--method", "cca"});
  const Outcome outcome = tocca(arguments);
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: no sample has a label in " + labels));
}

TEST(Fit, RefusesOptionsThatMakeNoSense) {
  const Files files;
  expect_refused(files, files.fit({"--method", "tocca-x"}), "did you mean tocca-");
  expect_refused(files, files.fit({"--set", "epoch=3"}), "did you mean epochs");
  expect_refused(files, files.fit({"--set", "epochs=few"}), "epochs: got 'few'");
  expect_refused(files, files.fit({"--val", "1.5"}), "validation: got 1.5");
  expect_refused(files, files.fit({"--missing", "guess"}), "missing: got 'guess'");
  expect_refused(files, files.fit({"--seed", "-1"}), "seed: got '-1'");
  const std::string config = files.dir.write("run.toml", "epochs = 3\nhiden_size = 4\n");
  expect_refused(files, files.fit({"--config", config}), "run.toml:2] unknown key 'hiden_size'");
}

TEST(Fit, ChecksWhereItWritesBeforeItTrains) {
  const Files files;
  const std::string file = files.dir.write("file", "");
  const auto to = [&](const std::string& model) {
    std::vector<std::string> arguments{"fit", "--labels", files.labels(), "--model", model};
    return with(arguments, {"--view", "left=" + files.dir.file("left.csv")});
  };
  expect_refused(files, to(files.dir.file("none/model")), "does not exist");
  expect_refused(files, to(file + "/model"), "not a folder");
  expect_refused(files, to(files.dir.path().string()), "is a folder");
  expect_refused(files, files.fit({"--report", file + "/report"}), "cannot make the folder");
  std::filesystem::create_directory(files.dir.file("run"));
  expect_refused(files, with(to(files.dir.file("run/report.html")), {"--report", files.dir.file("run")}),
                 "is written by --model, too");
  expect_refused(files, with(to(files.dir.file("m")), {"--checkpoint", files.dir.file("m")}), "is written by --model");
  const std::string history = files.dir.write("run/history.csv", content(files.dir.file("left.csv")));
  expect_refused(files,
                 {"fit", "--labels", files.labels(), "--view", "left=" + history, "--model", files.dir.file("m"),
                  "--report", files.dir.file("run")},
                 "is an input of this command");
}

TEST(Fit, WarnsOfOptionsWithoutEffect) {
  const Files files;
  const Outcome linear = tocca(files.fit({"--method", "rcca", "--set", "ridge=1"}));
  ASSERT_EQ(linear.code, kSuccess) << linear.err;
  EXPECT_THAT(linear.err, HasSubstr("warning: without effect on method 'rcca': epochs, hidden_size\n"));
  EXPECT_THAT(linear.err, ::testing::Not(HasSubstr("--checkpoint")));
  const std::string state = files.dir.file("state");
  EXPECT_THAT(tocca(files.fit({"--method", "rcca", "--checkpoint", state})).err,
              HasSubstr("--checkpoint is without effect: method 'rcca' is fitted in one go"));
  EXPECT_THAT(tocca(files.fit({"--method", "tocca-sd", "--checkpoint", state})).err,
              ::testing::Not(HasSubstr("--checkpoint is without effect")));
  const Outcome deep = tocca(files.fit({"--method", "tocca-sd", "--set", "ridge=1"}));
  EXPECT_THAT(deep.err, HasSubstr("without effect on method 'tocca-sd': ridge\n"));
}

TEST(Fit, WarnsOfMoreComponentsThanThereAre) {
  const Files files;
  const Outcome outcome = tocca(files.fit({"--method", "cca", "--components", "10"}));
  EXPECT_EQ(outcome.code, kBadInput) << "an option given twice";
  std::vector<std::string> arguments = with(files.both(), {"--method", "cca", "--components", "10", "--model"});
  arguments.insert(arguments.begin(), "fit");
  const Outcome fitted = tocca(with(arguments, {files.model()}));
  EXPECT_EQ(fitted.code, kSuccess);
  EXPECT_THAT(fitted.err, HasSubstr("tocca: warning: n_components: got 10, lowered to 4"));
}

}  // namespace
}  // namespace tocca::cli
