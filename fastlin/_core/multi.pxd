"""The contract with the C files of models trained side by side."""

from .c cimport fl_row, fl_rows, int32_t, int64_t
from .kernel_dual cimport fl_gram_kernels
from .packed cimport fl_packed_kernels


cdef extern from "fl_multi.h" nogil:
    enum:
        FL_MAX_LANES
    struct fl_multi_plan:
        int loss
        int schedule
        double power_t
        int weighted
        int classes
    struct fl_multi_lanes:
        pass
    struct fl_multi_memory:
        int64_t d
        void *v
        void *u
        void *paid
    struct fl_dual_plan:
        int loss
        double centre_square
    struct fl_dual_lanes:
        pass
    void fl_prefetch_lanes(const fl_rows *X, int64_t i, const void *w, int64_t bytes) noexcept
    struct fl_multi_kernels:
        void (*step)(const fl_multi_plan *plan, fl_multi_lanes *lanes, fl_row row,
                     const double *s, const double *y, const fl_multi_memory *memory,
                     fl_row next) noexcept nogil
        void (*respond)(fl_row row, const void *w, double *z) noexcept nogil
        void (*norms)(const fl_multi_lanes *lanes, const fl_multi_memory *memory, int64_t first,
                      int64_t last, double *sizes, double *squares) noexcept nogil
        void (*publish)(const fl_multi_lanes *lanes, const fl_multi_memory *memory, int64_t first,
                        int64_t last, void *out) noexcept nogil
    struct fl_descent_kernels:
        void (*dual_step)(const fl_dual_plan *plan, fl_dual_lanes *lanes, fl_row row, double q,
                          double k, const double *s, const double *y, int sampled,
                          float *state, void *u) noexcept nogil
        void (*add)(fl_row row, const double *by, void *w) noexcept nogil
    struct fl_certifying_kernels:
        void (*add)(fl_row row, const double *by, void *w) noexcept nogil
        void (*respond)(fl_row row, const void *w, double *z) noexcept nogil
        void (*sums)(int loss, const double *p, const double *s, const double *y, double *sums,
                     double *pull) noexcept nogil


cdef extern from "fl_joint_dual.h" nogil:
    enum:
        FL_JOINT_ROOM
    struct fl_joint_dual_rule:
        int loss
        bint fit_intercept
        double mass
        double nu
        double cc
        double tau
        int64_t K
        int64_t d
        int64_t stride
        double slack
    struct fl_joint_visit:
        double C
        double h
        double k
        bint sampled
        const int32_t *classes
        const double *shares
        int64_t n_classes
    struct fl_joint_dual_sums:
        double gap
        double objective
        double violation
    struct fl_joint_kernels:
        void (*respond)(fl_row row, const void *W, int64_t d, int64_t width,
                        double *z) noexcept nogil
        void (*add)(fl_row row, const double *by, int64_t d, int64_t width,
                    void *W) noexcept nogil
        bint (*dual_step)(const fl_joint_dual_rule *rule, const fl_joint_visit *visit, fl_row row,
                          void *state, const double *B, double *s, double *U, void *W,
                          double *room, fl_joint_dual_sums *sums) noexcept nogil
    int64_t fl_joint_width(int64_t K) noexcept


cdef extern from "fl_gather.h" nogil:
    enum:
        FL_GATHERED
        FL_GATHER_AHEAD
    void fl_gather_four(const float *const *line, const double *by, int n_lanes,
                        float *tile) noexcept
    bint fl_goes_past(const void *to, int64_t nbytes) noexcept
    void fl_put(void *to, const void *start, int64_t nbytes, bint past) noexcept
    void fl_put_end() noexcept


cdef extern from "fl_dispatch.h" nogil:
    enum:
        FL_N_ISAS
    const char *fl_isa_name(int isa) noexcept
    bint fl_isa_runs(int isa) noexcept
    const fl_multi_kernels *fl_multi_kernels_of(int isa, int is_double, int n_lanes) noexcept
    const fl_descent_kernels *fl_descent_kernels_of(int isa, int n_lanes) noexcept
    const fl_certifying_kernels *fl_certifying_kernels_of(int isa, int n_lanes) noexcept
    const fl_joint_kernels *fl_joint_kernels_of(int isa, int is_double) noexcept
    ctypedef void fl_logs_kernel(double *x, int64_t n) noexcept nogil
    fl_logs_kernel *fl_logs_of(int isa) noexcept
    struct fl_logistic_kernels:
        double (*expand)(const double *z, const double *y, const double *weight, double share,
                         double least, double *r, double *h, int64_t n) noexcept nogil
        double (*conjugate)(const double *dual, const double *y, const double *weight, double c,
                            int64_t n) noexcept nogil
    const fl_logistic_kernels *fl_logistic_kernels_of(int isa) noexcept
    const fl_gram_kernels *fl_gram_kernels_of(int isa) noexcept
    const fl_packed_kernels *fl_packed_kernels_of(int isa, int is_double) noexcept


# The C files with the kernels are compiled into this module alone.
cdef const fl_joint_kernels *joint_kernels_for(int isa, bint is_double) noexcept nogil
cdef const fl_gram_kernels *gram_kernels_for(int isa) noexcept nogil
cdef fl_logs_kernel *logs_for(int isa) noexcept nogil
cdef const fl_logistic_kernels *logistic_kernels_for(int isa) noexcept nogil
cdef const fl_packed_kernels *packed_kernels_for(int isa, bint is_double) noexcept nogil
