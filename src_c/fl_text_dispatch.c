/* The build compiles fl_text.c once more for each instruction set that the compiler knows, and
 * defines FL_WITH_AVX2 and FL_WITH_AVX512. */
#include "fl_dispatch.h"
#include "fl_text.h"

static const fl_text_kernels base = {
    fl_text_advance, fl_text_squares, fl_text_quotients_f32, fl_text_quotients_f64,
    fl_text_counting,
};

const fl_text_kernels *fl_text_kernels_of(int32_t isa)
{
#if defined(FL_X86) && defined(FL_WITH_AVX512)
    extern const fl_text_kernels fl_text_avx512;
    if (isa >= FL_ISA_AVX512_NUMBER && FL_CPU_READS_WIDE_TEXT())
        return &fl_text_avx512;
#endif
#if defined(FL_X86) && defined(FL_WITH_AVX2)
    extern const fl_text_kernels fl_text_avx2;
    if (isa >= FL_ISA_AVX2_NUMBER && FL_CPU_SUPPORTS("avx2"))
        return &fl_text_avx2;
#endif
    (void)isa;
    return &base;
}
