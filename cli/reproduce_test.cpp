// The experiments of the paper, on data of their shape that are small enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/budget.h"
#include "cli/paper.h"
#include "cli/speech_like.h"
#include "cli/testing.h"
#include "tocca/data/readers/test_mat.h"
#include "tocca/methods/methods.h"
#include "tocca/metrics/classification.h"
#include "tocca/search/trial_store.h"
#include "tocca/testing/two_views.h"

namespace tocca::cli {
namespace {

using ::testing::AllOf;
using testing::content;
using testing::Files;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::tocca;

std::vector<std::string> small_xrmb(std::initializer_list<std::string> more = {}) {
  return testing::with({"reproduce", "xrmb", "--synthetic", "--frames", "6000", "--methods", "lda,rcca,tocca-w",
                        "--set", "hidden_size=16", "--set", "n_components=8", "--set", "epochs=1"},
                       more);
}

TEST(Reproduce, XrmbShowsThePaperBesideOurs) {
  const Outcome outcome = tocca(small_xrmb({"--fractions", "0.1", "--json"}));
  ASSERT_EQ(outcome.code, kSuccess) << outcome.err;
  const auto told = outcome.json();
  std::set<std::string> cells;
  for (const auto& row : told.at("rows")) {
    cells.insert(row.at("cell").get<std::string>());
    if (!row.at("compared").get<bool>() || row.at("method") != "lda") continue;
    EXPECT_EQ(row.at("paper"), 0.591);
  }
  EXPECT_THAT(cells, ::testing::ElementsAre("10 % of the labels", "LDA of columns and projections", "softmax"));
}

// Two files with the published names and variables; three phones, each with a level of its own in every column.
void write_corpus(const std::string& folder, tocca::testing::MatFormat format, Index articulatory = 112) {
  Rng rng(4);
  const auto part = [&](const char* name, Index n, Index columns) {
    std::vector<float> values;
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < n; ++i) values.push_back(static_cast<float>(static_cast<double>(i % 3) + 2 * rng.normal()));
    }
    return tocca::testing::mat_numbers(name, {static_cast<std::size_t>(n), static_cast<std::size_t>(columns)}, values);
  };
  const auto labels = [](const char* name, Index n) {
    std::vector<double> codes;
    for (Index i = 0; i < n; ++i) codes.push_back(static_cast<double>(i % 3));
    return tocca::testing::mat_numbers(name, {static_cast<std::size_t>(n), 1}, codes);
  };
  tocca::testing::write_mat(folder + "/XRMBf2KALDI_window7_single1.mat", format, part("X1", 600, 273),
                            part("XV1", 30, 273), part("XTe1", 60, 273));
  tocca::testing::write_mat(folder + "/XRMBf2KALDI_window7_single2.mat", format, part("X2", 600, articulatory),
                            part("XV2", 30, articulatory), part("XTe2", 60, articulatory), labels("trainLabel", 600),
                            labels("tuneLabel", 30), labels("testLabel", 60));
}

TEST(Reproduce, XrmbReadsTheCorpusAsPublished) {
  const Files files;
  const std::string folder = files.dir.path().string();
  std::vector<std::string> arguments = small_xrmb({"--data", folder, "--json", "--quiet"});
  arguments.erase(std::find(arguments.begin(), arguments.end(), "--synthetic"));
  const auto frames = std::find(arguments.begin(), arguments.end(), "--frames");
  arguments.erase(frames, frames + 2);
  for (const tocca::testing::MatFormat format : {tocca::testing::kMatFormats[0], tocca::testing::kMatFormats[3]}) {
    write_corpus(folder, format);
    const Outcome outcome = tocca(arguments);
    ASSERT_EQ(outcome.code, kSuccess) << outcome.err;
    const auto told = outcome.json();
    for (const auto& row : told.at("rows")) {
      EXPECT_EQ(row.at("n"), 600);
      const bool lda = row.at("method") == "lda" && row.at("compared").get<bool>();
      EXPECT_GT(row.at("mean"), lda ? 0.9 : 0.0);
    }
  }
  write_corpus(folder, tocca::testing::kMatFormats[0], 273);
  EXPECT_THAT(tocca(arguments).err, AllOf(HasSubstr("single2.mat"), HasSubstr("X2: got 273 columns, need 112")));
}

TEST(Reproduce, GoesOnFromItsFolder) {
  const Files files;
  const std::string out = files.dir.file("out");
  const Outcome first = tocca(small_xrmb({"--out", out, "--json"}));
  ASSERT_EQ(first.code, kSuccess) << first.err;
  const auto before = std::filesystem::last_write_time(out + "/results.db");
  EXPECT_EQ(tocca(small_xrmb({"--out", out, "--json"})).json().at("rows"), first.json().at("rows"));
  EXPECT_EQ(std::filesystem::last_write_time(out + "/results.db"), before);
  EXPECT_THAT(content(out + "/paper.csv"), HasSubstr("softmax,tocca-w,accuracy"));
  EXPECT_THAT(content(out + "/report.html"), HasSubstr("the paper"));
}

TEST(Reproduce, ABudgetSaysWhatIsLeftOut) {
  const Files files;
  const Outcome outcome =
      tocca(small_xrmb({"--fractions", "0.1,0.5", "--budget", "1e-6", "--tune", "3", "--out", files.dir.file("out")}));
  ASSERT_EQ(outcome.code, kSuccess) << outcome.err;
  const TrialStore store(files.dir.file("out/results.db"));
  for (const auto& [name, description] : store.studies()) EXPECT_THAT(name, ::testing::Not(HasSubstr("search")));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("within 1e-06 h"), HasSubstr("left out: softmax, 10 % of the labels")));
}

TEST(Reproduce, BreastReadsTheTumours) {
  const Files files;
  std::filesystem::create_directory(files.dir.file("breast_tcga583"));
  for (const auto& [from, to] : {std::pair{"left.csv", "mirna_modules.csv"}, {"right.csv", "rna_modules.csv"}}) {
    std::filesystem::copy(files.dir.file(from), files.dir.file("breast_tcga583") + "/" + to);
  }
  std::filesystem::copy(files.dir.file("labels.csv"), files.dir.file("breast_tcga583") + "/labels.csv");
  const Outcome outcome = tocca({"reproduce", "breast", "--data", files.dir.path().string(), "--labels", "class",
                                 "--methods", "svm,tocca-sd", "--splits", "2", "--set", "epochs=2", "--json"});
  ASSERT_EQ(outcome.code, kSuccess) << outcome.err;
  const auto told = outcome.json();
  EXPECT_EQ(told.at("rows")[0].at("cell"), "583 tumours, class");
  EXPECT_EQ(told.at("rows")[0].at("test_view"), "mirna");
  EXPECT_EQ(told.at("rows")[0].at("splits"), 2);
}

TEST(Reproduce, MistakesAreOneClearLine) {
  const Files files;
  const auto refused = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = tocca(arguments);
    EXPECT_EQ(outcome.code, kBadInput) << outcome.out;
    return outcome.err;
  };
  const std::string folder = files.dir.path().string();
  EXPECT_THAT(refused({"reproduce", "mnist"}), HasSubstr("--data DIR"));
  EXPECT_THAT(refused({"reproduce", "breast", "--data", folder}), HasSubstr("mirna_modules.csv.gz"));
  EXPECT_THAT(refused({"reproduce", "xrmb", "--data", folder}), HasSubstr("XRMBf2KALDI_window7_single1.mat"));
  EXPECT_THAT(refused(small_xrmb({"--frames", "10"})), HasSubstr("--frames"));
  EXPECT_THAT(refused(small_xrmb({"--fractions", "2"})), HasSubstr("--fractions"));
  EXPECT_THAT(refused(small_xrmb({"--fractions", "0.1,0.1"})), HasSubstr("0.1 is given twice"));
  EXPECT_THAT(refused({"reproduce", "xrmb", "--synthetic", "--frames", "99999999999999"}), HasSubstr("need at most"));
  EXPECT_THAT(refused(small_xrmb({"--data", folder})), HasSubstr("need one of the two"));
  EXPECT_THAT(refused(small_xrmb({"--methods", "lda,svm"})), HasSubstr("'svm' has no place"));
  EXPECT_THAT(refused({"reproduce", "breast", "--data", folder, "--frames", "100"}),
              HasSubstr("in breast, but in xrmb"));
  EXPECT_THAT(refused(small_xrmb({"--budget", "0"})), HasSubstr("--budget"));
  EXPECT_THAT(refused(small_xrmb({"--n", "100"})), HasSubstr("it has no place in xrmb, but in mnist"));
  EXPECT_THAT(refused({"reproduce", "runtime", "--budget", "1"}), HasSubstr("no place in runtime"));
}

// Methods that need no labels are given none by the cross-view protocol, of the validation set neither.
TEST(Budget, MeasuresEveryMethodWithAValidationSet) {
  Comparison comparison;
  comparison.options.hidden_size = 8;
  comparison.options.n_components = 3;
  comparison.scoring.metric = {"cross_view_accuracy", "left", "right"};
  const auto data = [](std::uint64_t seed) { return tocca::testing::make_shared(80, 3, 0.3, seed); };
  comparison.splits.push_back({data(1), data(2), data(3)});
  for (const char* method : {"cca", "dcca", "svm", "tocca-w"}) {
    const FitCost cost = measure_cost(comparison, method, {});
    EXPECT_GT(cost.fit, 0) << method;
    EXPECT_GT(cost.final_score, 0) << method;
  }
}

TEST(SpeechLike, HasTheShapeOfTheCorpusAndPhonesToHear) {
  const SpeechData data = make_speech_like(12'000, Rng(1), {});
  EXPECT_EQ(data.training.views.views[0].columns(), 273);
  EXPECT_EQ(data.training.views.views[1].columns(), 112);
  EXPECT_EQ(data.training.labels.class_count(), 38);
  EXPECT_NEAR(static_cast<double>(data.training.views.size()) / 12'000, 35 / (37 + 8.0 / 3), 0.01);
  Options options;
  options.method = "lda";
  options.fusion = "early";
  const FittedModel model = fit(data.training, nullptr, options, {}).model;
  const double heard =
      accuracy(predict(model, match_views(model, data.test.views, {}), {}).codes, data.test.labels.codes);
  EXPECT_GT(heard, 0.3) << "chance is below 0.05";
  EXPECT_LT(heard, 0.65) << "a linear rule does not hear everything";
}

TEST(SpeechLike, SameSeedSameBitsForAnyThreads) {
  const SpeechData one = make_speech_like(3'000, Rng(1), {}), two = make_speech_like(3'000, Rng(1), make_context(3));
  EXPECT_EQ(one.test.labels.codes, two.test.labels.codes);
  for (Index j = 0; j < 273; j += 17) {
    EXPECT_EQ(one.training.views.views[0].values.at(100, j), two.training.views.views[0].values.at(100, j));
  }
}

TEST(Budget, TakesTheLargestPlanThatFits) {
  const FitCost cost{.fit = 10, .score = 1, .final_score = 5, .tuned = true};
  const std::vector<std::vector<FitCost>> costs{{cost, cost}, {cost}};
  const Plan asked{50, 5, 2, 0};
  EXPECT_DOUBLE_EQ(expected_seconds(costs, {10, 2, 1, 0}, 1, false), 2 * (2 * 15 + 2 * 10 * 11));
  EXPECT_DOUBLE_EQ(expected_seconds(costs, {10, 2, 1, 0}, 2, true), 2 * (2 * 15 + 10 * 11) / 2.0);
  FitCost always = cost;
  always.search(5);
  EXPECT_DOUBLE_EQ(expected_seconds({{always}}, {50, 2, 1, 0}, 1, false), 2 * (10 + 5 * 11 + 5));
  const Plan all = make_plan(costs, asked, 0, 1, false);
  EXPECT_EQ(all.tune, 50);
  EXPECT_EQ(all.cells, 2U);
  const Plan some = make_plan(costs, asked, 1000, 1, false);
  EXPECT_LE(some.seconds, 1000);
  EXPECT_EQ(some.cells, 2U);
  EXPECT_EQ(some.tune, 10);
  EXPECT_EQ(some.splits, 2);
  const Plan least = make_plan(costs, asked, 1, 1, false);
  EXPECT_EQ(least.cells, 1U);
  EXPECT_EQ(least.splits, 1);
  EXPECT_EQ(least.tune, 0);
}

TEST(Paper, KnowsItsFigures) {
  EXPECT_EQ(published("mnist", "n = 1000", "tocca-sd"), 0.867);
  EXPECT_FALSE(published("mnist", "n = 1000", "svm").has_value());
  for (const Published& figure : published()) {
    if (figure.method == "best other method") continue;
    EXPECT_NO_THROW(find_method(figure.method)) << figure.method;
  }
}

}  // namespace
}  // namespace tocca::cli
