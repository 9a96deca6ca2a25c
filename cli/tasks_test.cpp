// Tasks other than one class, from the command line: fit, predict, evaluate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"

namespace tocca::cli {
namespace {

using ::testing::AllOf;
using testing::content;
using ::testing::HasSubstr;
using testing::lines;
using testing::Outcome;
using ::testing::StartsWith;
using testing::tocca;
using testing::with;

// Two views of 90 samples and outcomes.csv with what depends on them: group, age, weight, time, dead, smoker, ill.
class Study {
 public:
  Study() {
    Rng rng(8);
    std::ostringstream left, right, outcomes;
    left << "sample,l0,l1,l2\n";
    right << "sample,r0,r1,r2\n";
    outcomes << "sample,group,age,weight,time,dead,smoker,ill\n";
    for (int i = 0; i < 90; ++i) {
      const double hidden = rng.normal();
      left << 'p' << i << ',' << hidden + 0.2 * rng.normal() << ',' << rng.normal() << ',' << -hidden << '\n';
      right << 'p' << i << ',' << rng.normal() << ',' << hidden + 0.2 * rng.normal() << ',' << rng.normal() << '\n';
      outcomes << 'p' << i << ',' << (hidden > 0 ? "high" : "low") << ',' << 50 + 10 * hidden << ','
               << (i % 7 == 0 ? "NA" : std::to_string(70 - 5 * hidden)) << ',' << std::exp(-hidden) << ','
               << (i % 4 != 0 ? 1 : 0) << ',' << (hidden > 0.5 ? "yes" : "no") << ',' << (hidden < -0.5 ? 1 : 0)
               << '\n';
    }
    dir.write("left.csv", left.str());
    dir.write("right.csv", right.str());
    dir.write("outcomes.csv", outcomes.str());
  }

  [[nodiscard]] std::vector<std::string> views() const {
    return {"--view", "left=" + dir.file("left.csv"), "--view", "right=" + dir.file("right.csv")};
  }
  [[nodiscard]] Outcome fit(const std::string& columns, std::initializer_list<std::string> more) const {
    std::vector<std::string> arguments = views();
    arguments.insert(arguments.begin(), "fit");
    arguments = with(arguments, {"--labels", dir.file("outcomes.csv") + columns, "--model", model(), "--components",
                                 "3", "--set", "epochs=80", "--set", "hidden_size=16"});
    return tocca(with(arguments, more));
  }
  [[nodiscard]] nlohmann::json evaluate(const std::string& columns = "") const {
    std::vector<std::string> arguments = views();
    arguments.insert(arguments.begin(), "evaluate");
    const Outcome outcome =
        tocca(with(arguments, {"--labels", dir.file("outcomes.csv") + columns, "--model", model(), "--json"}));
    EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
    return outcome.json();
  }
  // The header line and the first row.
  [[nodiscard]] std::vector<std::string> predict() const {
    const Outcome outcome = tocca(
        {"predict", "--view", "right=" + dir.file("right.csv"), "--model", model(), "--out", dir.file("out.csv")});
    EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
    return lines(content(dir.file("out.csv")));
  }
  [[nodiscard]] std::string model() const { return dir.file("m.safetensors"); }

  tocca::testing::TempDir dir;
};

double score(const nlohmann::json& result, const std::string& metric, const std::string& target) {
  for (const auto& row : result["rows"]) {
    if (row["metric"] == metric && row.value("target", "") == target && row["test_view"] == "all") return row["mean"];
  }
  return std::nan("");
}

TEST(Tasks, RegressionOfTwoColumns) {
  const Study study;
  const Outcome outcome = study.fit(":age,weight", {"--task", "regression"});
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("90 of 90 samples, regression of age,weight"), HasSubstr("r_squared")));
  EXPECT_EQ(study.predict()[0], "sample,predicted:age,predicted:weight");
  EXPECT_EQ(study.predict().size(), 91U);
  const auto result = study.evaluate();
  EXPECT_GT(score(result, "r_squared", "age"), 0.5);
  EXPECT_LT(score(result, "rmse", "weight"), 5);
}

TEST(Tasks, SurvivalOfTimeAndEvent) {
  const Study study;
  const Outcome outcome = study.fit(":time,dead", {"--task", "survival"});
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_EQ(study.predict()[0], R"(sample,"log_hazard:time,dead")");
  EXPECT_GT(score(study.evaluate(), "concordance", "time,dead"), 0.75);
}

TEST(Tasks, Multilabel) {
  const Study study;
  EXPECT_EQ(study.fit(":smoker,ill", {"--task", "multilabel"}).code, kSuccess);
  EXPECT_EQ(study.predict()[0], "sample,p:smoker,p:ill");
  EXPECT_GT(score(study.evaluate(), "auc", "ill"), 0.8);
}

TEST(Tasks, SeveralAtOnceWithWeights) {
  const Study study;
  const Outcome outcome = study.fit(
      "", {"--task", "age=regression:0.5", "--task", "group=classification", "--task", "time,dead=survival:0.2"});
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_EQ(study.predict()[0], R"(sample,predicted,p:high,p:low,predicted:age,"log_hazard:time,dead")");
  const auto result = study.evaluate();
  EXPECT_GT(score(result, "accuracy", ""), 0.8);
  EXPECT_GT(score(result, "r_squared", "age"), 0.5);
  const nlohmann::json model = tocca({"inspect", study.model(), "--json"}).json();
  EXPECT_EQ(model["options"]["task_weights"], "1,0.5,0.2");
  EXPECT_EQ(model["targets"][0]["columns"][0], "age");
}

TEST(Tasks, ClusteringAndRetrievalNeedNoLabels) {
  const Study study;
  std::vector<std::string> arguments = study.views();
  arguments.insert(arguments.begin(), "fit");
  arguments = with(arguments, {"--model", study.model(), "--components", "3", "--set", "epochs=10"});
  EXPECT_EQ(tocca(with(arguments, {"--task", "clustering", "--set", "clusters=2"})).code, kSuccess);
  EXPECT_THAT(study.predict()[0], HasSubstr("p:cluster0,p:cluster1"));
  EXPECT_GT(score(study.evaluate(":group"), "nmi", ""), 0.05);
  EXPECT_EQ(tocca(with(arguments, {"--task", "retrieval"})).code, kSuccess);
  const auto rows = study.evaluate(":group")["rows"];
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row["metric"] == "recall_at_5"; }));
}

TEST(Tasks, TheLabelColumnIsKnownByItsNameLater) {
  const Study study;
  EXPECT_EQ(study.fit(":group", {}).code, kSuccess);
  EXPECT_GT(score(study.evaluate(), "accuracy", ""), 0.8);  // outcomes.csv has seven columns
}

TEST(Tasks, RefuseWhatDoesNotFit) {
  const Study study;
  const auto why = [&](const std::string& columns, std::initializer_list<std::string> more) {
    const Outcome outcome = study.fit(columns, more);
    EXPECT_EQ(outcome.code, kBadInput);
    EXPECT_EQ(lines(outcome.err).size(), 1U) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(why(":age", {"--task", "regresion"}), HasSubstr("did you mean regression"));
  EXPECT_THAT(why(":group", {"--task", "regression"}), AllOf(HasSubstr("column 'group', row 1"), HasSubstr("number")));
  EXPECT_THAT(why(":time", {"--task", "survival"}), HasSubstr("a time and an event"));
  EXPECT_THAT(why(":age,weight", {}), HasSubstr("need one"));
  EXPECT_THAT(why(":group", {"--task", "age=regression"}), HasSubstr("names the columns itself"));
  EXPECT_THAT(why("", {"--task", "age=regression", "--task", "survival"}), HasSubstr("COLUMNS=NAME"));
  for (const char* alone : {"clustering", "group=lda", "retrieval"})
    EXPECT_THAT(why("", {"--task", "age=regression", "--task", alone}), HasSubstr("always the only task")) << alone;
  EXPECT_THAT(why("", {"--task", "years=regression"}), HasSubstr("label column not found: got 'years'"));
  EXPECT_THAT(why("", {"--task", "age=regression:-1"}), HasSubstr("task_weights"));
  EXPECT_THAT(why("", {"--task", "age=regression:"}), HasSubstr("need a weight"));
  EXPECT_THAT(why("", {"--task", "age=regression", "--task", "age=regression"}), HasSubstr("occur twice"));
  EXPECT_THAT(why("", {"--task", "age=regression:2", "--set", "task_weights=3"}), HasSubstr("need one of the two"));
  EXPECT_THAT(why("", {"--task", "age=regression", "--set", "task_weights=3,4"}), HasSubstr("one for each of 1 tasks"));
  EXPECT_THAT(why(":group", {"--method", "spls-da", "--set", "keep=2.5"}), HasSubstr("whole number"));
  EXPECT_THAT(why(":group", {"--method", "spls-da", "--set", "keep=2,9"}), HasSubstr("view 'right'"));
  EXPECT_THAT(why(":age", {"--task", "regression", "--method", "svm"}), HasSubstr("needs a network"));
}

TEST(Tasks, ColumnsInAnotherOrderAreMatchedByName) {
  const Study study;
  EXPECT_EQ(study.fit(":age,weight", {"--task", "regression"}).code, kSuccess);
  const auto as_fitted = study.evaluate(":age,weight");
  EXPECT_EQ(score(study.evaluate(":weight,age"), "rmse", "age"), score(as_fitted, "rmse", "age"));
}

TEST(Tasks, ReportsAreWrittenForEachAndForFusedViews) {
  const Study study;
  const std::string folder = study.dir.file("report");
  EXPECT_EQ(study.fit(":time,dead", {"--task", "survival", "--report", folder}).code, kSuccess);
  const Outcome fused = study.fit(":group", {"--method", "nn", "--set", "fusion=early", "--report", folder});
  EXPECT_EQ(fused.code, kSuccess) << fused.err;
  EXPECT_THAT(tocca({"inspect", study.model()}).out, HasSubstr("left, 3 columns"));
}

}  // namespace
}  // namespace tocca::cli
