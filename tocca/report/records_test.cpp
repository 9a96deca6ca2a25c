#include "tocca/report/records.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Report report_of(std::vector<ResultRow> rows) {
  Report report;
  report.command = "tocca compare --methods \"a,b\"";
  report.version = "0.1.0";
  report.seed = 18446744073709551615U;
  report.rows = std::move(rows);
  return report;
}

TEST(Csv, QuotesAndKeepsAllDigits) {
  EXPECT_EQ(csv(report_of({{"a,b", 10, "say \"x\"", "two\nlines", "accuracy", 0.1 + 0.2, kNaN, 5}})),
            "method,n,train_view,test_view,metric,mean,se,splits\n"
            "\"a,b\",10,\"say \"\"x\"\"\",\"two\nlines\",accuracy,0.30000000000000004,,5\n");
}

TEST(Json, ReadsBackAsTheContractHasIt) {
  const Report report = report_of({{"tocca-w", 1000, "left", "right", "accuracy", 0.1 + 0.2, kNaN, 5}});
  const std::string text = json(report);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const nlohmann::json read = nlohmann::json::parse(text);
  EXPECT_EQ(read.size(), 4U);
  EXPECT_EQ(read.at("command"), report.command);
  EXPECT_EQ(read.at("version"), "0.1.0");
  EXPECT_EQ(read.at("seed").get<std::uint64_t>(), report.seed);
  const nlohmann::json row = {{"method", "tocca-w"},  {"n", 1000},         {"train_view", "left"},
                              {"test_view", "right"}, {"mean", 0.1 + 0.2}, {"metric", "accuracy"},
                              {"se", nullptr},        {"splits", 5}};
  EXPECT_EQ(read.at("rows"), nlohmann::json::array({row}));
}

TEST(Json, HasAnEmptyArrayWithoutRows) {
  EXPECT_TRUE(nlohmann::json::parse(json(report_of({}))).at("rows").is_array());
}

TEST(Json, SurvivesBytesThatAreNotUtf8) {
  const auto read = nlohmann::json::parse(json(report_of({{"\xff", 1, "", "", "m", 1, 0, 1}})));
  EXPECT_EQ(read.at("rows").at(0).at("method"), "\uFFFD");
}

}  // namespace
}  // namespace tocca
