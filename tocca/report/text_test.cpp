#include "tocca/report/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Report small_report() {
  Report report;
  report.title = "Halves of digits";
  report.rows = {{"svm", 1000, "left", "right", "accuracy", 0.7834, 0.004, 5},
                 {"svm", 1000, "right", "left", "accuracy", 0.702, 0.0111, 5},
                 {"tocca-w", 1000, "left", "right", "accuracy", 0.8552, 0.003, 5},
                 {"tocca-w", 1000, "right", "left", "accuracy", kNaN, kNaN, 5},
                 {"tocca-sd", 1000, "left", "right", "accuracy", 0.8549, 0.003, 5},
                 {"tocca-sd", 1000, "right", "left", "accuracy", 0.84, kNaN, 5}};
  return report;
}

TEST(TextTable, ShowsALinePerMethodAndAColumnPerPairOfViews) {
  EXPECT_EQ(text_table(small_report()),
            "Halves of digits\n"
            "accuracy, mean ± standard error over 5 splits; * largest of its column\n"
            "\n"
            "method     left → right    right → left\n"
            "svm       0.783 ± 0.004   0.702 ± 0.011\n"
            "tocca-w   0.855 ± 0.003*              –\n"
            "tocca-sd  0.855 ± 0.003*          0.840*\n");
}

TEST(TextTable, NamesMetricAndSamplesWhereTheyDiffer) {
  Report report;
  report.rows = {{"cca", 300, "", "", "sum correlation", 12.5, kNaN, 1},
                 {"cca", 300, "", "image", "accuracy", 0.5, kNaN, 1},
                 {"cca", 1000, "", "image", "accuracy", 0.75, kNaN, 1}};
  EXPECT_EQ(text_table(report),
            "one split\n"
            "\n"
            "method     n  sum correlation  image, accuracy\n"
            "cca      300           12.500            0.500\n"
            "cca     1000                –            0.750\n");
}

TEST(TextTable, MarksTheLargestForEachNumberOfSamples) {
  Report report;
  report.rows = {{"a", 300, "", "x", "m", 0.1, 0.01, 2},
                 {"b", 300, "", "x", "m", 0.2, 0.01, 2},
                 {"a", 1000, "", "x", "m", 0.4, 0.01, 2},
                 {"b", 1000, "", "x", "m", 0.3, 0.01, 2}};
  EXPECT_EQ(text_table(report),
            "m, mean ± standard error over 2 splits; * largest for its n\n"
            "\n"
            "method     n              x\n"
            "a        300  0.100 ± 0.010\n"
            "b        300  0.200 ± 0.010*\n"
            "a       1000  0.400 ± 0.010*\n"
            "b       1000  0.300 ± 0.010\n");
}

TEST(TextTable, TakesTheLaterOfTwoRowsForOneCell) {
  Report report;
  report.rows = {{"a", 1, "", "x", "m", 0.1, kNaN, 2}, {"a", 1, "", "x", "m", 0.2, kNaN, 3}};
  EXPECT_EQ(text_table(report), "m, mean ± standard error over 2–3 splits\n\nmethod      x\na       0.200\n");
}

TEST(TextTable, SaysWhenThereIsNothing) { EXPECT_EQ(text_table(Report{}), "no results\n"); }

TEST(MarkdownTable, SetsTheLargestInBoldAndEscapesNames) {
  Report report = small_report();
  report.rows[0].method = report.rows[1].method = "s|vm_<b>";
  EXPECT_EQ(markdown_table(report),
            "| method | left → right | right → left |\n"
            "| :--- | ---: | ---: |\n"
            "| s\\|vm\\_\\<b> | 0.783 ± 0.004 | 0.702 ± 0.011 |\n"
            "| tocca-w | **0.855 ± 0.003** | – |\n"
            "| tocca-sd | **0.855 ± 0.003** | **0.840** |\n"
            "\n"
            "accuracy, mean ± standard error over 5 splits\n");
}

}  // namespace
}  // namespace tocca
