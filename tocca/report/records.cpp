#include "tocca/report/records.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tocca/core/text.h"

namespace tocca {
namespace {

std::string number(double value) { return std::isfinite(value) ? fmt::to_string(value) : ""; }

}  // namespace

std::string csv(const Report& report) {
  std::string text = "method,n,train_view,test_view,metric,mean,se,splits\n";
  for (const ResultRow& row : report.rows)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(row.method), row.n, csv_field(row.train_view),
                        csv_field(row.test_view), csv_field(row.metric), number(row.mean), number(row.standard_error),
                        row.splits);
  return text;
}

std::string json(const Report& report) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const ResultRow& row : report.rows)
    rows.push_back({{"method", row.method},
                    {"n", row.n},
                    {"train_view", row.train_view},
                    {"test_view", row.test_view},
                    {"metric", row.metric},
                    {"mean", row.mean},  // what is not finite is written as null
                    {"se", row.standard_error},
                    {"splits", row.splits}});
  const ordered_json object = {
      {"command", report.command}, {"version", report.version}, {"seed", report.seed}, {"rows", std::move(rows)}};
  // File names may hold bytes that are not UTF-8; a replacement character is better than no output.
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace tocca
