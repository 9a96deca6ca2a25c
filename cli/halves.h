/// The two halves of pictures as two views.
#pragma once

#include "tocca/data/views.h"

namespace tocca::cli {

/// Images of side × side pixels, row by row in the first side² columns, cut into the views "left" and "right", each
/// (n × side · side / 2) in the number type of the table.
Views left_and_right(const Table& images, Index side);

}  // namespace tocca::cli
