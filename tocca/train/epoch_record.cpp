#include "tocca/train/epoch_record.h"

#include <cmath>

#include "tocca/core/error.h"

namespace tocca {
namespace {

constexpr Index kNumbers = 10;

RowVector<double> numbers_of(const EpochRecord& r) {
  return RowVector<double>{{static_cast<double>(r.epoch), r.terms.task, r.terms.agreement, r.terms.decorrelation,
                            r.terms.reconstruction, r.terms.separation, r.weight_decay, r.validation_score,
                            r.validation_loss, r.sum_correlation}};
}

}  // namespace

void add_history(TensorFile& file, const std::vector<EpochRecord>& history) {
  Matrix<double> numbers(static_cast<Index>(history.size()), kNumbers);
  for (std::size_t i = 0; i < history.size(); ++i) numbers.row(static_cast<Index>(i)) = numbers_of(history[i]);
  file.add("history", numbers);
}

std::vector<EpochRecord> read_history(const TensorFile& file) {
  const Matrix<double>& numbers = file.matrix_d("history");
  if (numbers.rows() > 0 && numbers.cols() != kNumbers) {
    throw InputError("checkpoint", "tensor 'history': of another shape; the file is damaged");
  }
  std::vector<EpochRecord> history;
  for (Index i = 0; i < numbers.rows(); ++i) {
    const auto n = numbers.row(i);
    // Its number is its place, whatever the file says.
    history.push_back({static_cast<int>(i) + 1, {n(1), n(2), n(3), n(4), n(5)}, n(6), n(7), n(8), n(9)});
  }
  return history;
}

int whole_number(double value, double most) {
  if (value >= 0 && value <= most && value == std::floor(value)) return static_cast<int>(value);
  throw InputError("checkpoint", "a number of it is out of range; the file is damaged");
}

}  // namespace tocca
