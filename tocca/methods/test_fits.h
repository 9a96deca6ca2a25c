/// Quick fits for tests of methods.
#pragma once

#include <string>
#include <utility>

#include "tocca/methods/methods.h"
#include "tocca/metrics/classification.h"

namespace tocca::testing {

inline Options quick(std::string method) {
  Options options;
  options.method = std::move(method);
  options.n_components = 4;
  options.hidden_layers = 2;
  options.hidden_size = 32;
  options.epochs = 20;
  options.seed = 5;
  return options;
}

inline double test_accuracy(const FittedModel& model, const Dataset& test) {
  return accuracy(predict(model, match_views(model, test.views, {}), {}).codes, test.labels.codes);
}

}  // namespace tocca::testing
