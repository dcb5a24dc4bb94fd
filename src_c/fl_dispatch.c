#include "fl_dispatch.h"

/* FL_WITH_AVX2 and FL_WITH_AVX512 come from the build, where the compiler knows them. */
extern const struct fl_multi_table fl_multi_base_f32, fl_multi_base_f64;
