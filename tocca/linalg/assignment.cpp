#include "tocca/linalg/assignment.h"

#include <cstddef>
#include <limits>
#include <vector>

#include "tocca/linalg/checks.h"

namespace tocca {
namespace {

constexpr Index kNone = -1;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// An assignment of some rows that is the cheapest for them, with prices that show it: no cost is below the prices of
/// its row and column together, and the costs that are paid are equal to them.
struct Assigned {
  Vector<double> row_price, column_price;
  std::vector<Index> row_of;  // of each column; kNone if it is free
};

/// Shortest paths, in cost above the prices, from a new row over assigned columns and their rows.
struct Search {
  Vector<double> distance;           // of each column
  std::vector<Index> column_before;  // on its path; kNone: it comes right after the new row
  std::vector<bool> done;            // its distance is final
};

/// Goes on to the closest column until one is free; returns that.
Index find_free_column(ConstMatrixRef<double> cost, const Assigned& assigned, Index new_row, Search& search) {
  Index row = new_row, last = kNone;
  double reached = 0;
  while (true) {
    Index closest = kNone;
    for (Index j = 0; j < cost.cols(); ++j) {
      if (search.done[at(j)]) continue;
      const double distance = reached + (cost(row, j) - assigned.row_price(row) - assigned.column_price(j));
      if (distance < search.distance(j)) {
        search.distance(j) = distance;
        search.column_before[at(j)] = last;
      }
      if (closest == kNone || search.distance(j) < search.distance(closest)) closest = j;
    }
    search.done[at(closest)] = true;
    reached = search.distance(closest);
    last = closest;
    row = assigned.row_of[at(closest)];
    if (row == kNone) return closest;
  }
}

/// Keeps the prices valid, and makes all costs along the path to `free` equal to them.
void update_prices(const Search& search, Index new_row, Index free, Assigned& assigned) {
  const double reached = search.distance(free);
  assigned.row_price(new_row) += reached;
  for (Index j = 0; j < search.distance.size(); ++j) {
    if (!search.done[at(j)] || j == free) continue;
    assigned.row_price(assigned.row_of[at(j)]) += reached - search.distance(j);
    assigned.column_price(j) -= reached - search.distance(j);
  }
}

/// Every row on the path takes the next column.
void shift_along_path(const Search& search, Index new_row, Index free, Assigned& assigned) {
  for (Index column = free; column != kNone;) {
    const Index before = search.column_before[at(column)];
    assigned.row_of[at(column)] = before == kNone ? new_row : assigned.row_of[at(before)];
    column = before;
  }
}

/// The row of each column, for rows ≤ columns.
std::vector<Index> assign_rows(ConstMatrixRef<double> cost) {
  const Index m = cost.rows(), n = cost.cols();
  Assigned assigned{Vector<double>::Zero(m), Vector<double>::Zero(n), std::vector<Index>(at(n), kNone)};
  for (Index row = 0; row < m; ++row) {
    Search search{Vector<double>::Constant(n, std::numeric_limits<double>::infinity()),
                  std::vector<Index>(at(n), kNone), std::vector<bool>(at(n), false)};
    const Index free = find_free_column(cost, assigned, row, search);
    update_prices(search, row, free, assigned);
    shift_along_path(search, row, free, assigned);
  }
  return assigned.row_of;
}

}  // namespace

std::vector<Index> minimum_cost_assignment(ConstMatrixRef<double> cost) {
  detail::require_finite("minimum_cost_assignment", "cost", cost);
  if (cost.rows() > cost.cols()) return assign_rows(Matrix<double>(cost.transpose()));
  std::vector<Index> column_of(at(cost.rows()), kNone);
  const std::vector<Index> row_of = assign_rows(cost);
  for (Index j = 0; j < cost.cols(); ++j)
    if (row_of[at(j)] != kNone) column_of[at(row_of[at(j)])] = j;
  return column_of;
}

}  // namespace tocca
