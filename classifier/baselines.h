// The simplest ways to complete a row. A method that does not beat them is not worth having.
#pragma once

#include "classifier/completion_model.h"

namespace tarcil {

// Each unknown entry is the mean of its column, whatever is known of the row.
ModelPtr fitColumnMean(const ApplicationMatrix& known);

// Each unknown entry is that of the nearest row which has it: nearest by the mean square of the differences
// in the columns that both know. The mean of the column where no row shares one. O(rows * columns) a row.
ModelPtr fitNearestNeighbour(const ApplicationMatrix& known);

// Sensitivity x pressure: entry = (a number of the row) * (a number of the column), by alternating least
// squares over the known entries. A row's number comes from its known entries by least squares; a row without
// any gets the means of the columns.
ModelPtr fitRankOne(const ApplicationMatrix& known);

}  // namespace tarcil
