#include "tocca/report/html.h"

#include <gmock/gmock.h>

#include <limits>

namespace tocca {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Report small_report() {
  Report report;
  report.command = "tocca compare --set 'a=<1>'";
  report.version = "0.1.0";
  report.seed = 7;
  report.title = "Genes & images";
  report.facts = {{"samples", "<1000>"}};
  report.rows = {{"<b>", 1000, "genes", "images", "accuracy", 0.783, 0.004, 5},
                 {"tocca-w", 1000, "genes", "images", "accuracy", 0.855, 0.003, 5},
                 {"tocca-w", 1000, "images", "genes", "accuracy", kNaN, kNaN, 5}};
  return report;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Html, EscapesEveryText) {
  const std::string page = html(small_report());
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">&lt;b&gt;</th>"));
  EXPECT_THAT(page, HasSubstr("<h1>Genes &amp; images</h1>"));
  EXPECT_THAT(page, HasSubstr("<dd>&lt;1000&gt;</dd>"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
}

TEST(Html, NeedsNothingFromElsewhere) {
  const std::string page = html(small_report());
  for (const char* part : {"<script", "<link", "src=", "href=", "url(", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(part)));
}

TEST(Html, ShowsTableAndPlotAndLeavesOutWhatIsNaN) {
  const std::string page = html(small_report());
  EXPECT_THAT(page, HasSubstr("<td class=\"best\">0.855 <span>± 0.003</span></td><td><span>–</span></td>"));
  EXPECT_THAT(page, HasSubstr("<title>tocca-w, genes → images: 0.855 ± 0.003</title>"));
  EXPECT_EQ(count(page, "<svg"), 1U);
  EXPECT_EQ(count(page, "<g fill"), 2U);
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(Html, PlotsEachMetricOnItsOwn) {
  Report report = small_report();
  report.rows.push_back({"tocca-w", 1000, "genes", "images", "sum correlation", 12, 1, 5});
  EXPECT_EQ(count(html(report), "<svg"), 2U);
}

TEST(Html, SaysHowItWasProduced) {
  EXPECT_THAT(html(small_report()), HasSubstr("<footer>Produced by tocca 0.1.0, seed 7, with "
                                              "<code>tocca compare --set &#39;a=&lt;1&gt;&#39;</code></footer>"));
}

TEST(Html, TakesFiguresAndNoRows) {
  Report report;
  report.figures = {{"One & two", "<svg id=\"own\"></svg>"}};
  const std::string page = html(report);
  EXPECT_THAT(page, HasSubstr("<figcaption>One &amp; two</figcaption><svg id=\"own\"></svg>"));
  EXPECT_THAT(page, Not(HasSubstr("<table>")));
}

}  // namespace
}  // namespace tocca
