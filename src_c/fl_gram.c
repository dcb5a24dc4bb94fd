/* Compiled once per instruction set: FL_GRAM_TABLE is the name of the table that comes out. */
#include "fl_gram.h"

#include "fl_kernels.h"

extern const struct fl_gram_kernels FL_GRAM_TABLE;
const struct fl_gram_kernels FL_GRAM_TABLE = {fl_gaussian, fl_pair_first, fl_pair_second};
