#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/bench_linear.h"
#include "cli/run.h"
#include "cli/testing.h"

namespace tocca::cli {
namespace {

using ::testing::HasSubstr;

TEST(Bench, ChecksAndTimesEveryVariantOfACase) {
  const auto told = testing::tocca({"bench", "--case", "breast", "--seconds", "0.1", "--json", "--quiet"});
  ASSERT_EQ(told.code, kSuccess);
  const nlohmann::json json = told.json();
  std::vector<std::string> methods;
  for (const auto& row : json.at("rows")) {
    EXPECT_EQ(row.at("case"), "breast");
    methods.push_back(row.at("method"));
    EXPECT_LT(row.at("gradient_error").get<double>(), 1e-4);
    const double rate = row.at("efficiency").get<double>() * row.at("peak_gflops").get<double>();
    // 6 · batch · weights: what a step multiplies does not depend on how fast it is.
    const double flop = rate * row.at("ms_per_step").get<double>() * 1e6;
    EXPECT_NEAR(flop, 6.0 * 100 * (512 * 200 + 50 * 200 + 2 * (3 * 200 * 200 + 200 * 50) + 50 * 2), 1e-6 * flop);
  }
  EXPECT_EQ(methods, (std::vector<std::string>{"tocca-w", "tocca-sd", "tocca-nd"}));
}

TEST(Bench, ChecksAndTimesLinearCca) {
  nlohmann::ordered_json rows;
  std::vector<std::vector<std::string>> table;
  constexpr Index kSamples[] = {1000, 2000};
  bench_linear(make_context(2), 0.01, kSamples, rows, table);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(table.size(), 3U);
  for (const auto& row : rows) {
    EXPECT_LT(row.at("error").get<double>(), 1e-10);
    const double flop = row.at("gflops").get<double>() * row.at("ms").get<double>() * 1e6;
    EXPECT_NEAR(flop, row.at("samples").get<double>() * 400 * 400, 1e-6 * flop);
  }
}

TEST(Bench, NamesTheCasesThereAre) {
  const auto told = testing::tocca({"bench", "--case", "mnits"});
  EXPECT_EQ(told.code, kBadInput);
  EXPECT_THAT(told.err, HasSubstr("unknown case 'mnits': did you mean mnist"));
}

}  // namespace
}  // namespace tocca::cli
