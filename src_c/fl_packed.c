/* Compiled once per instruction set: FL_PACKED_TABLE is the name of the tables that come out, of
 * float and of double. */
#include "fl_packed.h"

extern const struct fl_packed_kernels FL_PACKED_TABLE[2];
const struct fl_packed_kernels FL_PACKED_TABLE[2] = {
    {fl_packed_row_f32, fl_packed_publish_f32, fl_packed_norms_f32},
    {fl_packed_row_f64, fl_packed_publish_f64, fl_packed_norms_f64},
};
