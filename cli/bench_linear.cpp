#include "cli/bench_linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/timing.h"
#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/linalg/cca.h"
#include "tocca/methods/methods.h"

namespace tocca::cli {
namespace {

constexpr Index kColumns = 200, kComponents = 20;
constexpr double kRidge = 0.1;

// Two float32 tables of one latent signal, with means and deviations far from 0 and 1.
std::vector<Table> make_tables(Index rows, const Context& context) {
  constexpr Index kLatent = 12, kChunk = 1000;
  std::vector<Table> tables;
  for (const char* name : {"a", "b"}) {
    const Rng rng = Rng(1).split(name);
    Rng draw = rng.split("mixing");
    const Matrix<float> mixing =
        Matrix<float>::NullaryExpr(kLatent, kColumns, [&] { return static_cast<float>(draw.normal()); });
    Matrix<float> x(rows, kColumns);
    context.parallel(rows / kChunk, [&](Index chunk) {
      Rng signal = Rng(1).split("signal", static_cast<std::uint64_t>(chunk));
      Rng noise = rng.split("noise", static_cast<std::uint64_t>(chunk));
      const Matrix<float> z =
          Matrix<float>::NullaryExpr(kChunk, kLatent, [&] { return static_cast<float>(signal.normal()); });
      auto block = x.middleRows(chunk * kChunk, kChunk);
      block = z.lazyProduct(mixing);
      block = block.unaryExpr([&](float value) { return 100 + 3 * (value + 4 * static_cast<float>(noise.normal())); });
    });
    tables.emplace_back(std::move(x));
  }
  return tables;
}

// n samples over the rows of the tables, again from the first where they end.
Dataset make_data(const std::vector<Table>& tables, Index n) {
  Dataset data;
  for (Index i = 0; i < n; ++i) data.views.samples.push_back(fmt::format("{}", i));
  for (const Table& table : tables) {
    View view{fmt::format("view{}", data.views.count()), {}, table, {}};
    for (Index j = 0; j < table.columns(); ++j) view.features.push_back(fmt::format("c{}", j));
    for (Index i = 0; i < n; ++i) view.row_of_sample.push_back(i % table.rows());
    data.views.views.push_back(std::move(view));
  }
  return data;
}

FittedModel fit_cca(const Dataset& data, const Context& context) {
  Options options;
  options.method = "rcca";
  options.n_components = kComponents;
  options.ridge = kRidge;
  return fit(data, nullptr, options, context).model;
}

// The columns of a view less their mean, divided by their deviation.
Matrix<double> standardized(const View& view) {
  Matrix<double> x(static_cast<Index>(view.row_of_sample.size()), view.columns());
  view.values.read_rows(view.row_of_sample, x);
  x = (x.rowwise() - x.colwise().mean()).eval();
  const RowVector<double> deviation = (x.colwise().squaredNorm() / static_cast<double>(x.rows() - 1)).cwiseSqrt();
  return x * deviation.cwiseInverse().asDiagonal();
}

// Largest difference between the weights of a fit and those of the textbook's way, relative to the largest weight.
double largest_error(const Dataset& data, const Context& context) {
  const FittedModel model = fit_cca(data, context);
  const Matrix<double> x1 = standardized(data.views.views[0]), x2 = standardized(data.views.views[1]);
  const double degrees = static_cast<double>(x1.rows() - 1);
  const Matrix<double> s11 = x1.transpose() * x1 / degrees, s22 = x2.transpose() * x2 / degrees,
                       s12 = x1.transpose() * x2 / degrees;
  const CcaSolution want = cca_from_covariances(s11, s22, s12, {.components = kComponents, .ridge = kRidge});
  const auto error = [](const Matrix<double>& got, const Matrix<double>& wanted) {
    return (got - wanted).cwiseAbs().maxCoeff() / wanted.cwiseAbs().maxCoeff();
  };
  return std::max(error(model.weights[0], want.weights1), error(model.weights[1], want.weights2));
}

double median_seconds(const Dataset& data, double budget, const Context& context) {
  std::vector<double> times;
  const auto start = Clock::now();
  do {
    const auto before = Clock::now();
    fit_cca(data, context);
    times.push_back(seconds_since(before));
  } while (seconds_since(start) < budget && !context.cancelled());
  return median(times);
}

}  // namespace

void bench_linear(const Context& context, double seconds, std::span<const Index> samples, nlohmann::ordered_json& rows,
                  std::vector<std::vector<std::string>>& table) {
  constexpr Index kMostRows = 100'000, kChecked = 5'000;
  constexpr double kTolerance = 1e-8;
  Index most = kChecked;
  for (const Index n : samples) most = std::max(most, n);
  const std::vector<Table> tables = make_tables(std::min(kMostRows, most), context);
  const double error = largest_error(make_data(tables, kChecked), context);
  if (!(error < kTolerance)) {
    throw Error("bench", fmt::format("linear: the weights differ from those of two passes in double precision by "
                                     "{:.1e} (relative); nothing is timed that is wrong",
                                     error));
  }
  table.push_back({"case", "samples", "columns", "ms", "GFLOP/s", "dgemm peak", "efficiency", "error"});
  for (const Index n : samples) {
    const Dataset data = make_data(tables, n);
    double peak = measure_peak<double>(context);
    const double time = median_seconds(data, seconds, context);
    peak = std::max(peak, measure_peak<double>(context));
    const double rate = static_cast<double>(n) * (2 * kColumns) * (2 * kColumns) / time * 1e-9;
    rows.push_back({{"case", "linear"},
                    {"samples", n},
                    {"columns", 2 * kColumns},
                    {"ms", time * 1e3},
                    {"gflops", rate},
                    {"peak_gflops", peak},
                    {"efficiency", rate / peak},
                    {"error", error}});
    table.push_back({"linear", fmt::format("{}", n), fmt::format("{} + {}", kColumns, kColumns),
                     fmt::format("{:.1f}", time * 1e3), fmt::format("{:.1f}", rate), fmt::format("{:.1f}", peak),
                     fmt::format("{:.2f}", rate / peak), fmt::format("{:.0e}", error)});
  }
}

}  // namespace tocca::cli
