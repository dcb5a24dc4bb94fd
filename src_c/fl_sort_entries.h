/* Entries of a row by column: sorting them, and finding one. */
#ifndef FL_SORT_ENTRIES_H
#define FL_SORT_ENTRIES_H

#include "fl_common.h"

/* Moves entry `root` down the heap of the `count` entries at columns and values. */
FL_INLINE void fl_sift_down(int32_t *columns, double *values, int64_t root, int64_t count)
{
    int32_t column = columns[root];
    double value = values[root];
    for (int64_t child; (child = 2 * root + 1) < count; root = child) {
        child += child + 1 < count && columns[child + 1] > columns[child];
        if (columns[child] <= column) {
            break;
        }
        columns[root] = columns[child];
        values[root] = values[child];
    }
    columns[root] = column;
    values[root] = value;
}

/* Heapsort: in place, and no input makes it quadratic. */
FL_INLINE void fl_sort_entries(int32_t *columns, double *values, int64_t count)
{
    for (int64_t root = count / 2; root-- > 0;) {
        fl_sift_down(columns, values, root, count);
    }
    for (int64_t last = count - 1; last > 0; last--) {
        int32_t column = columns[last];
        double value = values[last];
        columns[last] = columns[0];
        values[last] = values[0];
        columns[0] = column;
        values[0] = value;
        fl_sift_down(columns, values, 0, last);
    }
}

FL_INLINE int64_t fl_find_column(const int32_t *columns, int64_t low, int64_t high, int32_t column)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (columns[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

#endif
