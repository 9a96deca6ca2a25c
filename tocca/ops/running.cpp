#include "tocca/ops/running.h"

#include <cmath>

namespace tocca {

RunningWeights running_weights(double momentum, double batch_number) {
  RunningWeights w;
  w.keep = momentum;
  w.add = 1 - momentum;
  w.correction = 1 / (1 - std::pow(momentum, batch_number));
  w.share = w.add * w.correction;
  return w;
}

}  // namespace tocca
