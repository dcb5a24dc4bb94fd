/* The build compiles fl_svmlight.c once more for AVX-512, and defines FL_WITH_AVX512. */
#include "fl_dispatch.h"
#include "fl_svmlight.h"

fl_svm_parser *fl_svm_parser_of(int32_t isa)
{
#if defined(FL_X86) && defined(FL_WITH_AVX512)
    extern fl_svm_parser fl_svm_parse_avx512;
    if (isa >= FL_ISA_AVX512_NUMBER && FL_CPU_READS_WIDE_TEXT())
        return &fl_svm_parse_avx512;
#endif
    (void)isa;
    return &fl_svm_parse;
}
