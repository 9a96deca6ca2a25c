// Single operations at the sizes of the MNIST experiment: 32 samples, 500 units, 50 components.
#include <benchmark/benchmark.h>

#include "tocca/core/rng.h"
#include "tocca/linalg/blas.h"
#include "tocca/ops/nadam.h"
#include "tocca/ops/whitening.h"

namespace tocca {
namespace {

Matrix<float> random(Index rows, Index columns) {
  Rng rng(1);
  return Matrix<float>::NullaryExpr(rows, columns, [&] { return static_cast<float>(rng.normal()); });
}

void forward_product(benchmark::State& state) {
  const Index m = state.range(0);
  const Matrix<float> x = random(m, 500), w = random(500, 500);
  Matrix<float> y(m, 500);
  for (auto _ : state) multiply<float>(x, w, y);
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * static_cast<double>(m) * 500 * 500, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(forward_product)->Arg(32)->Arg(100)->Arg(1000);

void weight_update(benchmark::State& state) {
  const auto m = static_cast<std::size_t>(state.range(0));
  const Matrix<float> x = random(state.range(0), 500), dy = random(state.range(0), 500);
  Matrix<float> p = random(500, 500), first = p, second = p.cwiseAbs();
  NadamSchedule schedule;
  for (auto _ : state) {
    nadam_update({{}, schedule.next({}), 1e-4}, NadamArrays<float>{p.data(), first.data(), second.data()},
                 OuterProduct<float>{x.data(), 500, dy.data(), 500, m, 500, 500});
  }
}
BENCHMARK(weight_update)->Arg(32)->Arg(100);

void whiten(benchmark::State& state) {
  const Index d = state.range(0);
  const Matrix<float> a = random(32, d);
  Matrix<float> b(32, d);
  Matrix<double> mean = Matrix<double>::Zero(1, d), covariance = Matrix<double>::Zero(d, d);
  Matrix<double> centre = mean, transform = covariance;
  const auto map = [](Matrix<double>& m) { return MatrixMap<double>(m.data(), m.rows(), m.cols()); };
  WhiteningStatistics statistics{map(mean), map(covariance), map(centre), map(transform)};
  WhiteningCache cache;
  Workspace work;
  double k = 0;
  for (auto _ : state) {
    whitening_forward<float>(a, {}, ++k, statistics, cache, b, work);
    whitening_backward<float>(cache, b, work);
  }
}
BENCHMARK(whiten)->Arg(50)->Arg(112);

}  // namespace
}  // namespace tocca
