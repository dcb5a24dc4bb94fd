/* The build compiles fl_multi.c, fl_gram.c and fl_packed.c for "base" and, where the compiler knows
 * them, for the others; then it defines FL_WITH_AVX2 and FL_WITH_AVX512. */
#include "fl_dispatch.h"

extern const struct fl_multi_table fl_multi_base_f32, fl_multi_base_f64;
extern const struct fl_descent_kernels fl_exact_base_f32[4];
extern const struct fl_certifying_kernels fl_exact_base_f64[4];
void fl_logs_base(double *x, int64_t n);
extern const struct fl_logistic_kernels fl_logistic_base;
extern const struct fl_gram_kernels fl_gram_base;
extern const struct fl_packed_kernels fl_packed_base[2];
#ifdef FL_WITH_AVX2
extern const struct fl_multi_table fl_multi_avx2_f32, fl_multi_avx2_f64;
extern const struct fl_descent_kernels fl_exact_avx2_f32[4];
extern const struct fl_certifying_kernels fl_exact_avx2_f64[4];
void fl_logs_avx2(double *x, int64_t n);
extern const struct fl_logistic_kernels fl_logistic_avx2;
extern const struct fl_gram_kernels fl_gram_avx2;
extern const struct fl_packed_kernels fl_packed_avx2[2];
#endif
#ifdef FL_WITH_AVX512
extern const struct fl_multi_table fl_multi_avx512_f32, fl_multi_avx512_f64;
extern const struct fl_descent_kernels fl_exact_avx512_f32[4];
extern const struct fl_certifying_kernels fl_exact_avx512_f64[4];
void fl_logs_avx512(double *x, int64_t n);
extern const struct fl_logistic_kernels fl_logistic_avx512;
extern const struct fl_gram_kernels fl_gram_avx512;
extern const struct fl_packed_kernels fl_packed_avx512[2];
#endif

#ifdef FL_WITH_AVX2
#  define FL_OF_AVX2(x) x
#else
#  define FL_OF_AVX2(x) NULL
#endif
#ifdef FL_WITH_AVX512
#  define FL_OF_AVX512(x) x
#else
#  define FL_OF_AVX512(x) NULL
#endif
/* What there is of each instruction set, in the order of their numbers. */
#define FL_PER_ISA(base, avx2, avx512) {base, FL_OF_AVX2(avx2), FL_OF_AVX512(avx512)}

static const struct fl_multi_table *const tables[FL_N_ISAS][2] = {
    {&fl_multi_base_f32, &fl_multi_base_f64},
#ifdef FL_WITH_AVX2
    {&fl_multi_avx2_f32, &fl_multi_avx2_f64},
#else
    {NULL, NULL},
#endif
#ifdef FL_WITH_AVX512
    {&fl_multi_avx512_f32, &fl_multi_avx512_f64},
#else
    {NULL, NULL},
#endif
};

static const struct fl_descent_kernels *const descent_tables[FL_N_ISAS] =
    FL_PER_ISA(fl_exact_base_f32, fl_exact_avx2_f32, fl_exact_avx512_f32);

static const struct fl_certifying_kernels *const certifying_tables[FL_N_ISAS] =
    FL_PER_ISA(fl_exact_base_f64, fl_exact_avx2_f64, fl_exact_avx512_f64);

static fl_logs_kernel *const logs_tables[FL_N_ISAS] =
    FL_PER_ISA(fl_logs_base, fl_logs_avx2, fl_logs_avx512);

static const struct fl_logistic_kernels *const logistic_tables[FL_N_ISAS] =
    FL_PER_ISA(&fl_logistic_base, &fl_logistic_avx2, &fl_logistic_avx512);

static const struct fl_gram_kernels *const gram_tables[FL_N_ISAS] =
    FL_PER_ISA(&fl_gram_base, &fl_gram_avx2, &fl_gram_avx512);

static const struct fl_packed_kernels *const packed_tables[FL_N_ISAS] =
    FL_PER_ISA(fl_packed_base, fl_packed_avx2, fl_packed_avx512);

const char *fl_isa_name(int isa) {
    static const char *const names[] = {
#define FL_ISA_NAME(E, name) name,
        FL_ISAS(FL_ISA_NAME)
#undef FL_ISA_NAME
    };
    return names[isa];
}

int fl_isa_runs(int isa) {
    if (tables[isa][0] == NULL) return 0;
#ifdef FL_X86
    if (isa == FL_ISA_AVX2_NUMBER) return FL_CPU_SUPPORTS("avx2");
    if (isa == FL_ISA_AVX512_NUMBER) {
        return FL_CPU_SUPPORTS("avx512f") && FL_CPU_SUPPORTS("avx512dq") &&
               FL_CPU_SUPPORTS("avx512vl");
    }
#endif
    return isa == FL_ISA_BASE_NUMBER;
}

const struct fl_multi_kernels *fl_multi_kernels_of(int isa, int is_double, int n_lanes) {
    return &tables[isa][is_double]->lanes[n_lanes / 8];
}

const struct fl_descent_kernels *fl_descent_kernels_of(int isa, int n_lanes) {
    return &descent_tables[isa][n_lanes / 8];
}

const struct fl_certifying_kernels *fl_certifying_kernels_of(int isa, int n_lanes) {
    return &certifying_tables[isa][n_lanes / 8];
}

const struct fl_joint_kernels *fl_joint_kernels_of(int isa, int is_double) {
    return &tables[isa][is_double]->joint;
}

fl_logs_kernel *fl_logs_of(int isa) { return logs_tables[isa]; }

const struct fl_logistic_kernels *fl_logistic_kernels_of(int isa) { return logistic_tables[isa]; }

const struct fl_gram_kernels *fl_gram_kernels_of(int isa) { return gram_tables[isa]; }

const struct fl_packed_kernels *fl_packed_kernels_of(int isa, int is_double) {
    return &packed_tables[isa][is_double];
}
