/// A report's rows for other programs.
#pragma once

#include <string>

#include "tocca/report/report.h"

namespace tocca {

/// `method,n,train_view,test_view,metric,mean,se,splits`, quoted as RFC 4180 has it; NaN is an empty cell. Numbers have
/// as many digits as it takes to read the same value back.
std::string csv(const Report& report);

/// One object on one line: {"command", "version", "seed", "rows"}, each row flat with the keys of `csv`; NaN is null.
std::string json(const Report& report);

}  // namespace tocca
