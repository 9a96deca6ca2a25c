// MATLAB files on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/testing.h"
#include "tocca/data/readers/test_mat.h"

namespace tocca::cli {
namespace {

using namespace tocca::testing;
using namespace tocca::cli::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// data.mat: X, a row of two cells, samples × columns and columns × samples; Y, the class of each of 60 samples.
class MatFiles : public ::testing::Test {
 protected:
  MatFiles() {
    Rng rng(3);
    std::vector<double> left, right, labels;
    for (int i = 0; i < 180; ++i) left.push_back((i % 60) % 3 + 0.3 * rng.normal());
    for (int i = 0; i < 180; ++i) right.push_back((i / 3) % 3 + 0.3 * rng.normal());
    for (int i = 0; i < 60; ++i) labels.push_back(1 + i % 3);
    write_mat(path_, kMatFormats[1],
              mat_cells_of("X", mat_numbers(nullptr, {60, 3}, left), mat_numbers(nullptr, {3, 60}, right)),
              mat_numbers("Y", {60, 1}, labels));
  }
  [[nodiscard]] std::vector<std::string> fit(const std::string& labels, const std::string& model) const {
    return {"fit",
            "--method",
            "cca",
            "--components",
            "2",
            "--view",
            "left=" + path_ + ":X{1}",
            "--view",
            "right=" + path_ + ":X{2}'",
            "--labels",
            labels,
            "--model",
            model};
  }
  TempDir dir_;
  std::string path_ = dir_.file("data.mat");
};

TEST_F(MatFiles, HoldViewsAndLabels) {
  const std::string model = dir_.file("m.safetensors");
  const Outcome fitted = tocca(fit(path_ + ":Y", model));
  EXPECT_EQ(fitted.code, 0) << fitted.err;
  EXPECT_THAT(fitted.out, AllOf(HasSubstr("data.mat:X{1}"), HasSubstr("data.mat:X{2}'")));
  // Y is found by the name it had in training.
  const Outcome evaluated = tocca({"evaluate", "--model", model, "--view", "left=" + path_ + ":X{1}", "--view",
                                   "right=" + path_ + ":X{2}'", "--labels", path_});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
}

TEST_F(MatFiles, AreNotReplaced) {
  for (const std::vector<std::string>& arguments :
       {fit(path_ + ":Y", path_), {"fit", "--method", "cca", "--view", "x=" + path_ + ":X{1}", "--model", path_}}) {
    const Outcome outcome = tocca(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("is an input of this command and would be replaced"));
  }
}

TEST_F(MatFiles, DoNotGiveTheAnswerAway) {
  for (const char* view : {":Y", ":Y'"}) {
    const Outcome outcome = tocca({"fit", "--view", "left=" + path_ + view, "--view", "right=" + path_ + view,
                                   "--labels", path_ + ":Y'", "--model", dir_.file("m.safetensors")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("which would learn from the answer")) << view;
  }
}

TEST_F(MatFiles, AreInspected) {
  EXPECT_THAT(tocca({"inspect", path_}).out,
              AllOf(HasSubstr("X{2}      double  3 x 60"), HasSubstr("Y         double")));
  const nlohmann::json json = tocca({"inspect", path_, "--json"}).json();
  EXPECT_EQ(json["kind"], "variables");
  EXPECT_EQ(json["rows"][3]["variable"], "Y");
  EXPECT_EQ(json["rows"][3]["size"], "60 x 1");
  EXPECT_EQ(tocca({"inspect", path_ + ":X{2}'", "--json"}).json()["rows"][0]["samples"], 60);
}

}  // namespace
}  // namespace tocca::cli
