/* Which instruction sets there are kernels for, and which of them this machine can run. The choice
 * is made once, at import; its number goes into every call. */
#ifndef FL_DISPATCH_H
#define FL_DISPATCH_H

#include "fl_gram.h"
#include "fl_logistic.h"
#include "fl_multi.h"
#include "fl_packed.h"

/* X(ENUM, name), the plainest first */
#define FL_ISAS(X) X(BASE, "base") X(AVX2, "avx2") X(AVX512, "avx512")

enum fl_isa {
#define FL_ISA_ENUM(E, name) FL_ISA_##E##_NUMBER,
    FL_ISAS(FL_ISA_ENUM)
#undef FL_ISA_ENUM
    FL_N_ISAS
};

const char *fl_isa_name(int isa);

/* Whether kernels for it were compiled, and the processor has it. */
int fl_isa_runs(int isa);

/* Kernels for float or double and 4, 8 or 16 lanes, of an instruction set that runs. */
const struct fl_multi_kernels *fl_multi_kernels_of(int isa, int is_double, int n_lanes);

/* Those of exact models for 4, 8, 16 or 24 lanes. */
const struct fl_descent_kernels *fl_descent_kernels_of(int isa, int n_lanes);
const struct fl_certifying_kernels *fl_certifying_kernels_of(int isa, int n_lanes);

/* Those for any number of outputs of one model. */
const struct fl_joint_kernels *fl_joint_kernels_of(int isa, int is_double);

/* fl_logs */
typedef void fl_logs_kernel(double *x, int64_t n);
fl_logs_kernel *fl_logs_of(int isa);

/* Those of the logistic loss of many rows. */
const struct fl_logistic_kernels *fl_logistic_kernels_of(int isa);

/* Those for rows of Gram matrices. */
const struct fl_gram_kernels *fl_gram_kernels_of(int isa);

/* Those of packed adaptive steps. */
const struct fl_packed_kernels *fl_packed_kernels_of(int isa, int is_double);

#endif
