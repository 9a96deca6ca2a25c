// transform, predict, evaluate and inspect on a model that `fit` wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
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

class ModelCommands : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(tocca(files_.fit({"--quiet"})).code, kSuccess); }

  [[nodiscard]] std::string left() const { return "left=" + files_.dir.file("left.csv"); }
  [[nodiscard]] std::string right() const { return "right=" + files_.dir.file("right.csv"); }
  [[nodiscard]] std::string out(const std::string& name) const { return files_.dir.file(name); }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& what) const {
    const Outcome outcome = tocca(arguments);
    EXPECT_EQ(outcome.code, kBadInput);
    EXPECT_THAT(outcome.err, AllOf(StartsWith("tocca: "), HasSubstr(what)));
    EXPECT_EQ(lines(outcome.err).size(), 1U) << outcome.err;
  }

  Files files_;
};

TEST_F(ModelCommands, TransformWritesAllViewsSideBySide) {
  EXPECT_EQ(tocca(files_.apply("transform", {"--view", left(), "--view", right(), "--out", out("z.csv")})).code, 0);
  const std::vector<std::string> rows = lines(content(out("z.csv")));
  ASSERT_EQ(rows.size(), 91U);
  EXPECT_EQ(rows[0], "sample,left_0,left_1,left_2,right_0,right_1,right_2");
  EXPECT_THAT(rows[1], StartsWith("p0,"));
}

TEST_F(ModelCommands, TransformLeavesFieldsOfAMissingViewEmpty) {
  std::string half = content(out("right.csv"));
  half.resize(half.find("p1,"));
  files_.dir.write("one.csv", half);
  EXPECT_EQ(
      tocca(files_.apply("transform", {"--view", left(), "--view", "right=" + out("one.csv"), "--out", out("z.csv")}))
          .code,
      0);
  const std::vector<std::string> rows = lines(content(out("z.csv")));
  ASSERT_EQ(rows.size(), 91U);
  EXPECT_THAT(rows[2], ::testing::EndsWith(",,,"));
}

TEST_F(ModelCommands, TransformWritesAFileForEachView) {
  const Outcome outcome =
      tocca(files_.apply("transform", {"--view", right(), "--view", left(), "--out", out("z-{view}.npy"), "--json"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.json()["rows"][0]["view"], "left");
  EXPECT_EQ(outcome.json()["rows"][0]["columns"], 3);
  EXPECT_EQ(outcome.json()["rows"][0]["missing"], 0);
  const std::string npy = content(out("z-right.npy"));
  EXPECT_THAT(npy, HasSubstr("'shape': (90, 3)"));
  EXPECT_EQ(npy.size() % 64, 90 * 3 * 8 % 64) << "the numbers start at a multiple of 64 bytes";
}

TEST_F(ModelCommands, TextAndBinaryOutputHoldTheSameNumbers) {
  tocca(files_.apply("transform", {"--view", left(), "--out", out("z.csv")}));
  tocca(files_.apply("transform", {"--view", left(), "--out", out("z.npy")}));
  const std::string row = lines(content(out("z.csv")))[1];
  const double text = std::stod(row.substr(row.find(',') + 1));
  const std::string npy = content(out("z.npy"));
  double binary = 0;
  std::memcpy(&binary, npy.data() + npy.size() - 90 * 3 * sizeof(double), sizeof binary);
  EXPECT_EQ(text, binary);
}

TEST_F(ModelCommands, TheSameSeedAndTheSavedModelGiveTheSameBytes) {
  const std::vector<std::string> transform = files_.apply("transform", {"--view", left(), "--view", right(), "--out"});
  tocca(with(transform, {out("a.csv")}));
  tocca(with(transform, {out("b.csv"), "--threads", "2"}));
  ASSERT_EQ(tocca(files_.fit({"--quiet"})).code, kSuccess);
  tocca(with(transform, {out("b.csv")}));
  EXPECT_EQ(content(out("a.csv")), content(out("b.csv")));
}

TEST_F(ModelCommands, InputsAreNeverReplaced) {
  const std::string before = content(out("left.csv"));
  std::filesystem::create_symlink(out("left.csv"), out("link.csv"));
  for (const char* command : {"transform", "predict"}) {
    for (const char* name : {"left.csv", "link.csv"}) {
      expect_refused(files_.apply(command, {"--view", left(), "--out", out(name)}), "is an input of this command");
    }
  }
  expect_refused({"fit", "--view", left(), "--view", right(), "--method", "cca", "--model", out("right.csv")},
                 "is an input of this command");
  EXPECT_EQ(content(out("left.csv")), before);
}

TEST_F(ModelCommands, TransformRefusesOtherFormats) {
  expect_refused(files_.apply("transform", {"--view", left(), "--out", out("z.h5")}), "need .csv or .npy");
}

TEST_F(ModelCommands, PredictsFromAnySubsetOfTheViews) {
  for (const std::vector<std::string>& views :
       {std::vector{left()}, std::vector{right()}, std::vector{left(), right()}}) {
    std::vector<std::string> arguments = files_.apply("predict", {"--out", out("p.csv")});
    for (const std::string& view : views) arguments = with(arguments, {"--view", view});
    EXPECT_EQ(tocca(arguments).code, 0);
    const std::vector<std::string> rows = lines(content(out("p.csv")));
    ASSERT_EQ(rows.size(), 91U);
    EXPECT_EQ(rows[0], "sample,predicted,p:a,p:b,p:c");
  }
}

TEST_F(ModelCommands, ProbabilitiesSumToOne) {
  tocca(files_.apply("predict", {"--view", left(), "--view", right(), "--out", out("p.csv")}));
  std::istringstream row(lines(content(out("p.csv")))[1]);
  double sum = 0;
  std::string cell;
  for (int j = 0; std::getline(row, cell, ','); ++j) sum += j >= 2 ? std::stod(cell) : 0;
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST_F(ModelCommands, ASampleWithoutAViewHasNoPrediction) {
  files_.dir.write("gap.csv", "sample,l0,l1,l2,l3,l4\np1,,,,,\np2,1,2,3,4,5\n");
  const Outcome outcome = tocca(files_.apply("predict", {"--view", "left=" + out("gap.csv"), "--out", out("p.csv")}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines(content(out("p.csv")))[1], "p1,,,,");
  EXPECT_THAT(outcome.err, HasSubstr("1 sample"));
}

TEST_F(ModelCommands, PredictionsAreTextOnly) {
  expect_refused(files_.apply("predict", {"--view", left(), "--out", out("p.npy")}), "need a CSV file");
  EXPECT_FALSE(std::filesystem::exists(out("p.npy")));
}

TEST_F(ModelCommands, AMissingValueIsExplainedWithWhatCanBeDoneNow) {
  files_.dir.write("nan.csv", "sample,l0,l1,l2,l3,l4\np1,1,2,,4,5\np2,1,2,3,4,5\n");
  expect_refused(files_.apply("predict", {"--view", "left=" + out("nan.csv"), "--out", out("p.csv")}),
                 "view 'left', sample 'p1', column 'l2'] missing value: got NaN, need a finite number; fill it in, or "
                 "fit with --missing mean or --missing drop");
  tocca(files_.fit({"--quiet", "--missing", "drop"}));
  const Outcome outcome = tocca(files_.apply("predict", {"--view", "left=" + out("nan.csv"), "--out", out("p.csv")}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("view 'left': 1 samples have missing values"));
  EXPECT_EQ(lines(content(out("p.csv")))[1], "p1,,,,");
}

TEST_F(ModelCommands, TheModelFileDoesNotDependOnThreads) {
  tocca(files_.fit({"--quiet", "--threads", "1"}));
  const std::string one = content(files_.model());
  tocca(files_.fit({"--quiet", "--threads", "3"}));
  EXPECT_EQ(content(files_.model()), one);
}

TEST_F(ModelCommands, EvaluateRefusesToScoreNothing) {
  files_.dir.write("two.csv", "sample,l0,l1,l2,l3,l4\np1,1,2,3,4,5\np2,1,2,3,4,5\n");
  std::vector<std::string> fit = with(files_.both(), {"--method", "cca", "--model", files_.model()});
  fit.insert(fit.begin(), "fit");
  ASSERT_EQ(tocca(fit).code, kSuccess);
  const Outcome outcome =
      tocca(files_.apply("evaluate", {"--view", "left=" + out("two.csv"), "--labels", files_.labels()}));
  EXPECT_EQ(outcome.code, kBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("nothing to score"));
}

TEST_F(ModelCommands, ColumnsAreMatchedByName) {
  files_.dir.write("few.csv", "sample,l0,l1,l2,l3\np1,1,2,3,4\n");
  files_.dir.write("more.csv", "sample,l4,l3,l2,l1,l0,x\np1,5,4,3,2,1,9\n");
  files_.dir.write("same.csv", "sample,l0,l1,l2,l3,l4\np1,1,2,3,4,5\n");
  const auto predict = [&](const std::string& file) {
    return tocca(files_.apply("predict", {"--view", "left=" + out(file), "--out", out(file + ".out")}));
  };
  EXPECT_EQ(predict("few.csv").code, kBadInput);
  EXPECT_THAT(predict("few.csv").err, HasSubstr("l4"));
  EXPECT_THAT(predict("more.csv").err, HasSubstr("1 columns unknown to the model"));
  EXPECT_EQ(predict("same.csv").err, "");
  EXPECT_EQ(content(out("more.csv.out")), content(out("same.csv.out")));
}

TEST_F(ModelCommands, RefusesAViewTheModelDoesNotKnow) {
  expect_refused(files_.apply("predict", {"--view", "lef=" + out("left.csv"), "--out", out("p.csv")}),
                 "did you mean left");
}

TEST_F(ModelCommands, KeepsAnExistingFileWhenItFails) {
  files_.dir.write("p.csv", "was here before");
  expect_refused(files_.apply("predict", {"--view", "left=" + out("none.csv"), "--out", out("p.csv")}), "none.csv");
  EXPECT_EQ(content(out("p.csv")), "was here before");
  expect_refused(files_.apply("predict", {"--view", left(), "--out", out("left.csv") + "/p.csv"}), "not a folder");
}

TEST_F(ModelCommands, EvaluateScoresEachViewAndAllTogether) {
  const std::vector<std::string> arguments =
      files_.apply("evaluate", {"--view", left(), "--view", right(), "--labels", files_.labels()});
  EXPECT_THAT(tocca(arguments).out, AllOf(HasSubstr("left"), HasSubstr("all"), HasSubstr("sum correlation")));
  const nlohmann::json rows = tocca(with(arguments, {"--json"})).json()["rows"];
  ASSERT_EQ(rows.size(), 10U) << "three figures from left, right and both, and the sum correlation";
  EXPECT_EQ(rows[0]["method"], "tocca-w");
  EXPECT_EQ(rows[0]["train_view"], "all");
  EXPECT_EQ(rows[0]["test_view"], "left");
  EXPECT_EQ(rows[0]["metric"], "accuracy");
  EXPECT_EQ(rows[0]["samples"], 90);
  EXPECT_EQ(rows[0]["splits"], 1);
  EXPECT_TRUE(rows[0]["se"].is_null());
}

TEST_F(ModelCommands, EvaluateNamesALabelTheModelDoesNotKnow) {
  std::string other = content(out("labels.csv"));
  other.replace(other.find("p1,b"), 4, "p1,dog");
  files_.dir.write("other.csv", other);
  expect_refused(files_.apply("evaluate", {"--view", left(), "--labels", out("other.csv") + ":class"}), "dog");
}

TEST_F(ModelCommands, InspectShowsTheModel) {
  EXPECT_THAT(tocca({"inspect", files_.model()}).out,
              AllOf(HasSubstr("tocca-w"), HasSubstr("l0, l1"), HasSubstr("hidden_size"), HasSubstr("a, b, c")));
  const nlohmann::json result = tocca({"inspect", files_.model(), "--json"}).json();
  EXPECT_EQ(result["kind"], "model");
  EXPECT_EQ(result["rows"][1]["view"], "right");
  EXPECT_EQ(result["rows"][1]["columns"], 4);
  EXPECT_EQ(result["options"]["epochs"], "4");
  EXPECT_EQ(result["canonical_correlations"][0]["correlations"].size(), 3U);
}

TEST_F(ModelCommands, InspectShowsADataFile) {
  files_.dir.write("gap.csv", "sample,x,y\na,1,\nb,2,NA\n");
  EXPECT_THAT(tocca({"inspect", out("gap.csv")}).out, AllOf(HasSubstr("2 of 4 values"), HasSubstr("a, b")));
  const nlohmann::json row = tocca({"inspect", out("gap.csv"), "--json"}).json()["rows"][0];
  EXPECT_EQ(row["view"], "gap");
  EXPECT_EQ(row["samples"], 2);
  EXPECT_EQ(row["columns"], 2);
  EXPECT_EQ(row["missing"], 2);
}

TEST_F(ModelCommands, RefusesWhatIsNotAModel) {
  const std::string whole = content(files_.model());
  files_.dir.write("cut.safetensors", whole.substr(0, whole.size() / 2));
  files_.dir.write("text.safetensors", "not a model at all, but long enough to look at");
  expect_refused({"inspect", out("cut.safetensors")}, "cut.safetensors");
  expect_refused({"inspect", out("text.safetensors")}, "text.safetensors");
  expect_refused({"inspect", out("none.safetensors")}, "none.safetensors");
  expect_refused({"predict", "--model", out("left.csv"), "--view", left(), "--out", out("p.csv")}, "left.csv");
}

TEST_F(ModelCommands, LinearMethodsGiveScores) {
  std::vector<std::string> fit = with(files_.both(), {"--labels", files_.labels(), "--model", files_.model()});
  fit.insert(fit.begin(), {"fit", "--method", "svm", "--set", "svm_cost=1"});
  ASSERT_EQ(tocca(fit).code, 0);
  EXPECT_EQ(tocca(files_.apply("predict", {"--view", left(), "--out", out("p.csv")})).code, 0);
  EXPECT_EQ(lines(content(out("p.csv")))[0], "sample,predicted,score:a,score:b,score:c");
  expect_refused(files_.apply("transform", {"--view", left(), "--out", out("z.csv")}), "no shared space");
}

TEST(Methods, ListsMethodsFormatsAndOptions) {
  EXPECT_THAT(tocca({"methods"}).out,
              AllOf(HasSubstr("tocca-sd"), HasSubstr(".csv.gz"), ::testing::Not(HasSubstr("hidden_size"))));
  EXPECT_THAT(tocca({"methods", "--verbose"}).out, HasSubstr("hidden_size"));
  const nlohmann::json result = tocca({"methods", "--verbose", "--json"}).json();
  EXPECT_EQ(result["command"], "methods");
  EXPECT_EQ(result["rows"][0]["method"], "cca");
  EXPECT_EQ(result["options"][0]["option"], "method");
  EXPECT_EQ(result["formats"][0]["format"], "csv");
}

TEST(Transform, GivesPrivateComponentsWhereThereAreSome) {
  const Files files;
  ASSERT_EQ(tocca(files.fit({"--set", "reconstruction=decoder", "--set", "private_components=2"})).code, kSuccess);
  const std::string out = files.dir.file("private.csv");
  std::vector<std::string> arguments = files.apply("transform", {"--out", out, "--private"});
  for (const std::string& view : files.both()) arguments.push_back(view);
  ASSERT_EQ(tocca(arguments).code, kSuccess);
  EXPECT_EQ(lines(content(out))[0], "sample,left_private_0,left_private_1,right_private_0,right_private_1");
  ASSERT_EQ(tocca(files.fit()).code, kSuccess);
  EXPECT_THAT(tocca(arguments).err, HasSubstr("no private components"));
}

TEST(EarlyFusion, TakesThePartsByNameAgain) {
  const Files files;
  ASSERT_EQ(tocca(files.fit({"--method", "nn", "--set", "fusion=early"})).code, kSuccess);
  const std::string out = files.dir.file("out.csv");
  std::vector<std::string> both = files.apply("transform", {"--out", out});
  for (const std::string& view : files.both()) both.push_back(view);
  ASSERT_EQ(tocca(both).code, kSuccess);
  EXPECT_EQ(lines(content(out))[0], "sample,all_0,all_1,all_2");
  std::vector<std::string> half =
      files.apply("predict", {"--out", out, "--view", "left=" + files.dir.file("left.csv")});
  ASSERT_EQ(tocca(half).code, kSuccess);  // one part is not enough to predict from
  EXPECT_EQ(lines(content(out))[1].substr(0, 4), "p0,,");
}

}  // namespace
}  // namespace tocca::cli
