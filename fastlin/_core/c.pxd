"""The contract with the C headers: every `cdef extern` of the numeric core, the fused type `real`
and adapters that pick the C function for a type. No logic."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

ctypedef fused real:
    float
    double


cdef extern from "fl_common.h" nogil:
    void FL_PREFETCH(const void *) noexcept


cdef extern from "fl_math.h" nogil:
    double fl_exp(double x) noexcept
    double fl_log1p(double x) noexcept
    void fl_logs(double *x, int64_t n) noexcept
    double fl_max(double a, double b) noexcept
    double fl_sigmoid(double x) noexcept
    double fl_softplus(double x) noexcept
    void fl_sigmoid_pairs(const double *z, double *out, int64_t n) noexcept
    uint64_t fl_to_bits(double x) noexcept


cdef extern from "fl_rng.h" nogil:
    uint64_t fl_rng_next(uint64_t *state) noexcept
    int64_t fl_rng_below(uint64_t *state, int64_t bound) noexcept
    void fl_rng_shuffle(uint64_t *state, int64_t *items, int64_t n) noexcept


cdef extern from "fl_sort.h" nogil:
    int fl_sort_row(const int32_t *indices, int64_t n, int64_t d, int64_t first, uint64_t *keys,
                    int32_t *in_order, int64_t *place) noexcept


cdef extern from "fl_losses.h" nogil:
    enum:
        FL_LOSS_LOG
        FL_N_LOSSES
        FL_MARGIN
    struct fl_loss_info:
        const char *name
        int kind
        const char *parameter
        double parameter_default
    fl_loss_info fl_loss_describe(int loss) noexcept
    struct fl_loss_sum:
        double sum
        double product
    double fl_loss(int loss, double p, double y, double a, double *slope) noexcept
    double fl_loss_add(fl_loss_sum *total, int loss, double p, double y, double a,
                       double s) noexcept
    void fl_loss_settle(fl_loss_sum *total) noexcept
    double fl_loss_curvature(int loss, double p, double y, double a) noexcept
    double fl_loss_bend(int loss) noexcept
    double fl_loss_conjugate(int loss, double dual, double y, double a) noexcept
    bint fl_loss_has_dual_step(int loss) noexcept
    double fl_logit(double t) noexcept
    bint fl_loss_has_dual_slack(int loss) noexcept
    double fl_loss_dual_step(int loss, double p, double y, double a, double dual, double h,
                             double *logit) noexcept
    double fl_loss_dual_slack(int loss, double p, double y, double a, double dual) noexcept
    bint fl_loss_has_reach(int loss) noexcept
    double fl_loss_reach(int loss, double p, double y, double a) noexcept


cdef extern from "fl_rows.h" nogil:
    enum:
        FL_DENSE
        FL_CSR
        FL_ONES
        FL_SIGNED
        FL_NEAR_BYTES
    struct fl_rows:
        int layout
        int64_t n
        int64_t d
        int64_t width
        const int64_t *indptr
        const int32_t *indices
        const void *values
    struct fl_row:
        int layout
        int64_t size
        const int32_t *indices
        const void *values
    int64_t fl_row_start(const fl_rows *X, int64_t i) noexcept
    int64_t fl_row_size(const fl_rows *X, int64_t i) noexcept
    int32_t fl_signed_column(int32_t index) noexcept
    void FL_PREFETCH(const void *p) noexcept
    void fl_prefetch_start(const fl_rows *X, int64_t i) noexcept
    fl_row fl_row_at_f32(const fl_rows *X, int64_t i) noexcept
    fl_row fl_row_at_f64(const fl_rows *X, int64_t i) noexcept
    void fl_prefetch_row_f32(const fl_rows *X, int64_t i) noexcept
    void fl_prefetch_row_f64(const fl_rows *X, int64_t i) noexcept
    void fl_prefetch_all_f32(fl_row row) noexcept
    void fl_prefetch_all_f64(fl_row row) noexcept
    int64_t fl_count_entries_f32(fl_row row) noexcept
    int64_t fl_count_entries_f64(fl_row row) noexcept
    int64_t fl_copy_entries_f32(fl_row row, int32_t offset, int32_t *columns,
                                float *values) noexcept
    int64_t fl_copy_entries_f64(fl_row row, int32_t offset, int32_t *columns,
                                double *values) noexcept
    double fl_dot_f32(fl_row row, const float *w) noexcept
    double fl_dot_f64(fl_row row, const double *w) noexcept
    double fl_dot_fetching_f32(fl_row row, const float *w, fl_row later) noexcept
    double fl_dot_fetching_f64(fl_row row, const double *w, fl_row later) noexcept
    bint fl_is_long(fl_row row) noexcept
    bint fl_has_long(const fl_rows *X) noexcept
    void fl_axpy_fetching_f32(fl_row row, float c, float *w, fl_row later) noexcept
    void fl_axpy_fetching_f64(fl_row row, double c, double *w, fl_row later) noexcept
    void fl_axpy_f32(fl_row row, float c, float *w) noexcept
    void fl_axpy_f64(fl_row row, double c, double *w) noexcept


cdef extern from "fl_rows.h" nogil:
    double fl_square_norm_f32(fl_row row) noexcept
    double fl_square_norm_f64(fl_row row) noexcept
    double fl_wide_dot_f32(fl_row row, const double *w) noexcept
    double fl_wide_dot_f64(fl_row row, const double *w) noexcept
    void fl_wide_axpy_f32(fl_row row, double c, double *w) noexcept
    void fl_wide_axpy_f64(fl_row row, double c, double *w) noexcept
    void fl_add_squares_f32(fl_row row, double c, double *w) noexcept
    void fl_add_squares_f64(fl_row row, double c, double *w) noexcept
    void fl_add_moments_f32(fl_row row, double s, double h, double *out) noexcept
    void fl_add_moments_f64(fl_row row, double s, double h, double *out) noexcept
    void fl_add_outer_f32(fl_row row, double c, int64_t d, double *out) noexcept
    void fl_add_outer_f64(fl_row row, double c, int64_t d, double *out) noexcept


cdef extern from "fl_rows.h" nogil:
    struct fl_per_column:
        int64_t ahead
        int64_t ahead_in_dot
        const char *start[6]
    fl_per_column fl_per_column_none() noexcept
    void fl_per_column_add(fl_per_column *all, const void *start, int64_t bytes) noexcept
    void fl_per_column_plan(fl_per_column *all, const fl_rows *X) noexcept
    void fl_per_column_weave(fl_per_column *all, const fl_rows *X) noexcept
    void fl_per_column_plan_next(fl_per_column *all, const fl_rows *X) noexcept
    void fl_prefetch_columns(const fl_rows *X, int64_t i, const fl_per_column *all) noexcept


cdef extern from "fl_sgd.h" nogil:
    enum:
        FL_CONSTANT
        FL_OPTIMAL
        FL_INVSCALING
        FL_GRADIENT
        FL_PA
        FL_PA_I
        FL_PA_II
    struct fl_sgd_rule:
        int loss
        double loss_parameter
        double l1
        double l2
        int schedule
        double eta0
        double power_t
        double alpha
        double t0
        int step_rule
        double aggressiveness
        int fit_intercept
        int64_t average_from
        int64_t batch_size
        double longest_square
    struct fl_sgd_state:
        double scale
        double intercept
        double t
        double sum_scale
        double sum_intercept
        double n_averaged
        double l1_total
        double sum_loss
        double sum_weight
    double fl_sgd_eta(const fl_sgd_rule *rule, double t) noexcept
    double fl_sgd_safe_eta(double eta, double g, double q, double reach) noexcept
    double fl_pa_coefficient(const fl_sgd_rule *rule, double loss, double g, double q,
                             double s) noexcept
    void fl_sgd_decay_f32(const fl_sgd_rule *rule, fl_sgd_state *state, double eta, int64_t d,
                          float *v, float *u) noexcept
    void fl_sgd_decay_f64(const fl_sgd_rule *rule, fl_sgd_state *state, double eta, int64_t d,
                          double *v, double *u) noexcept
    void fl_sgd_add_f32(const fl_sgd_state *state, fl_row row, float c, float *v,
                        float *u) noexcept
    void fl_sgd_add_f64(const fl_sgd_state *state, fl_row row, double c, double *v,
                        double *u) noexcept
    void fl_sgd_add_and_pay_f32(const fl_sgd_state *state, fl_row row, float c, float *v,
                                float *u, float *paid) noexcept
    void fl_sgd_add_and_pay_f64(const fl_sgd_state *state, fl_row row, double c, double *v,
                                double *u, double *paid) noexcept
    void fl_sgd_publish_f32(const fl_sgd_state *state, int64_t d, const float *v,
                            const float *paid, float *w) noexcept
    void fl_sgd_publish_f64(const fl_sgd_state *state, int64_t d, const double *v,
                            const double *paid, double *w) noexcept
    void fl_sgd_publish_mean_f32(const fl_sgd_state *state, int64_t d, const float *v,
                                 const float *u, float *w) noexcept
    void fl_sgd_publish_mean_f64(const fl_sgd_state *state, int64_t d, const double *v,
                                 const double *u, double *w) noexcept


cdef inline fl_row row_at(const fl_rows *X, int64_t i, const real *w) noexcept nogil:
    if real is float:
        return fl_row_at_f32(X, i)
    else:
        return fl_row_at_f64(X, i)


cdef inline void prefetch_row(const fl_rows *X, int64_t i, const real *w) noexcept nogil:
    if real is float:
        fl_prefetch_row_f32(X, i)
    else:
        fl_prefetch_row_f64(X, i)


cdef inline void prefetch_all(fl_row row, const real *w) noexcept nogil:
    if real is float:
        fl_prefetch_all_f32(row)
    else:
        fl_prefetch_all_f64(row)


cdef inline void axpy_fetching(fl_row row, double c, real *w, fl_row later) noexcept nogil:
    if real is float:
        fl_axpy_fetching_f32(row, <float>c, w, later)
    else:
        fl_axpy_fetching_f64(row, c, w, later)


cdef inline double dot(fl_row row, const real *w) noexcept nogil:
    if real is float:
        return fl_dot_f32(row, w)
    else:
        return fl_dot_f64(row, w)


cdef inline double dot_fetching(fl_row row, const real *w, fl_row later) noexcept nogil:
    if real is float:
        return fl_dot_fetching_f32(row, w, later)
    else:
        return fl_dot_fetching_f64(row, w, later)


cdef extern from "fl_rows.h" nogil:
    bint fl_all_finite_f32(const float *x, int64_t n) noexcept
    bint fl_all_finite_f64(const double *x, int64_t n) noexcept


cdef inline bint all_finite(const real *x, int64_t n) noexcept nogil:
    if real is float:
        return fl_all_finite_f32(x, n)
    else:
        return fl_all_finite_f64(x, n)


cdef inline double square_norm(fl_row row, const real *w) noexcept nogil:
    if real is float:
        return fl_square_norm_f32(row)
    else:
        return fl_square_norm_f64(row)


cdef inline void sgd_decay(const fl_sgd_rule *rule, fl_sgd_state *state, double eta, int64_t d,
                           real *v, real *u) noexcept nogil:
    if real is float:
        fl_sgd_decay_f32(rule, state, eta, d, v, u)
    else:
        fl_sgd_decay_f64(rule, state, eta, d, v, u)


cdef inline void sgd_add(const fl_sgd_state *state, fl_row row, double c, real *v,
                         real *u) noexcept nogil:
    if real is float:
        fl_sgd_add_f32(state, row, <float>c, v, u)
    else:
        fl_sgd_add_f64(state, row, c, v, u)


cdef inline void sgd_add_and_pay(const fl_sgd_state *state, fl_row row, double c, real *v,
                                 real *u, real *paid) noexcept nogil:
    if real is float:
        fl_sgd_add_and_pay_f32(state, row, <float>c, v, u, paid)
    else:
        fl_sgd_add_and_pay_f64(state, row, c, v, u, paid)


cdef extern from "fl_dual.h" nogil:
    struct fl_dual_rule:
        int loss
        double loss_parameter
        double mass
        bint fit_intercept
        double nu
        double cc
        int64_t stride
        double slack
    struct fl_dual_state:
        double B
        double s
        double U
        double gap
        double objective
        double violation
        double walked
    double fl_dual_response(const fl_dual_rule *rule, const fl_dual_state *state, double dot,
                            double k) noexcept
    void fl_dual_estimate(const fl_dual_rule *rule, fl_dual_state *state, double p, double y,
                          double C, double a) noexcept
    double fl_dual_step(const fl_dual_rule *rule, fl_dual_state *state, double p, double y,
                        double C, double h, double k, double *a, double *logit) noexcept
    double fl_dual_gain(int loss, double change, double C, double h, double a,
                        double turned) noexcept
    int fl_dual_pause(double gain, double much, double little) noexcept


cdef extern from "fl_joint.h" nogil:
    enum:
        FL_SGD
        FL_ADAM
    struct fl_adaptive:
        double t
    bint fl_loss_is_joint(int loss) noexcept
    double fl_joint_loss(int loss, const double *z, int64_t K, int64_t y, double a, double *g,
                         int64_t *active, int64_t *n_active) noexcept
    double fl_joint_offset(int loss, double square) noexcept
    double fl_joint_max(int loss, const double *z, int64_t K, int64_t y, double *p) noexcept
    fl_adaptive fl_adaptive_begin(const fl_sgd_rule *rule, int optimizer, double decay,
                                  double decay1, double epsilon) noexcept
    void fl_adaptive_step(fl_adaptive *a, const fl_sgd_rule *rule, double t) noexcept
    void fl_adaptive_intercepts(const fl_adaptive *a, int64_t K, const double *g, double *b,
                                double *A, double *B) noexcept
    void fl_joint_scores_f32(fl_row row, int64_t K, const float *V, double scale, const double *b,
                             float *sum, double *z) noexcept
    void fl_joint_scores_f64(fl_row row, int64_t K, const double *V, double scale,
                             const double *b, double *sum, double *z) noexcept
    void fl_joint_add_f32(const fl_sgd_state *state, fl_row row, int64_t K, const float *c,
                          const int64_t *active, int64_t n_active, float *V, float *u) noexcept
    void fl_joint_add_f64(const fl_sgd_state *state, fl_row row, int64_t K, const double *c,
                          const int64_t *active, int64_t n_active, double *V, double *u) noexcept
    void fl_joint_pay_f32(const fl_sgd_state *state, fl_row row, int64_t K, float *V, float *u,
                          float *paid) noexcept
    void fl_joint_pay_f64(const fl_sgd_state *state, fl_row row, int64_t K, double *V, double *u,
                          double *paid) noexcept
    void fl_joint_collect_f32(fl_row row, int64_t K, const double *g, double share,
                              const int64_t *active, int64_t n_active, double *G) noexcept
    void fl_joint_collect_f64(fl_row row, int64_t K, const double *g, double share,
                              const int64_t *active, int64_t n_active, double *G) noexcept
    void fl_adaptive_row_f32(const fl_adaptive *a, double sum_scale, fl_row row, int64_t K,
                             const double *g, const int64_t *active, int64_t n_active, float *V,
                             float *A, float *B, double *last, float *u) noexcept
    void fl_adaptive_row_f64(const fl_adaptive *a, double sum_scale, fl_row row, int64_t K,
                             const double *g, const int64_t *active, int64_t n_active, double *V,
                             double *A, double *B, double *last, double *u) noexcept
    void fl_adaptive_collected_f32(const fl_adaptive *a, double sum_scale, fl_row row, int64_t K,
                                   double *G, float *V, float *A, float *B, double *last,
                                   float *u) noexcept
    void fl_adaptive_collected_f64(const fl_adaptive *a, double sum_scale, fl_row row, int64_t K,
                                   double *G, double *V, double *A, double *B, double *last,
                                   double *u) noexcept
    void fl_adaptive_publish_f32(const fl_adaptive *a, int64_t size, const float *V,
                                 const float *A, const float *B, const double *last,
                                 float *w) noexcept
    void fl_adaptive_publish_f64(const fl_adaptive *a, int64_t size, const double *V,
                                 const double *A, const double *B, const double *last,
                                 double *w) noexcept


cdef inline void joint_scores(fl_row row, int64_t K, const real *V, double scale, const double *b,
                              real *sum, double *z) noexcept nogil:
    if real is float:
        fl_joint_scores_f32(row, K, V, scale, b, sum, z)
    else:
        fl_joint_scores_f64(row, K, V, scale, b, sum, z)


cdef inline void joint_add(const fl_sgd_state *state, fl_row row, int64_t K, const real *c,
                           const int64_t *active, int64_t n_active, real *V,
                           real *u) noexcept nogil:
    if real is float:
        fl_joint_add_f32(state, row, K, c, active, n_active, V, u)
    else:
        fl_joint_add_f64(state, row, K, c, active, n_active, V, u)


cdef inline void joint_pay(const fl_sgd_state *state, fl_row row, int64_t K, real *V, real *u,
                           real *paid) noexcept nogil:
    if real is float:
        fl_joint_pay_f32(state, row, K, V, u, paid)
    else:
        fl_joint_pay_f64(state, row, K, V, u, paid)


cdef inline void joint_collect(fl_row row, int64_t K, const double *g, double share,
                               const int64_t *active, int64_t n_active, double *G,
                               const real *V) noexcept nogil:
    if real is float:
        fl_joint_collect_f32(row, K, g, share, active, n_active, G)
    else:
        fl_joint_collect_f64(row, K, g, share, active, n_active, G)


cdef inline void adaptive_row(const fl_adaptive *a, double sum_scale, fl_row row, int64_t K,
                              const double *g, const int64_t *active, int64_t n_active, real *V,
                              real *A, real *B, double *last, real *u) noexcept nogil:
    if real is float:
        fl_adaptive_row_f32(a, sum_scale, row, K, g, active, n_active, V, A, B, last, u)
    else:
        fl_adaptive_row_f64(a, sum_scale, row, K, g, active, n_active, V, A, B, last, u)


cdef inline void adaptive_collected(const fl_adaptive *a, double sum_scale, fl_row row, int64_t K,
                                    double *G, real *V, real *A, real *B, double *last,
                                    real *u) noexcept nogil:
    if real is float:
        fl_adaptive_collected_f32(a, sum_scale, row, K, G, V, A, B, last, u)
    else:
        fl_adaptive_collected_f64(a, sum_scale, row, K, G, V, A, B, last, u)


cdef extern from "fl_primal.h" nogil:
    struct fl_primal:
        double l1
        double l2
        int positive
        int free
        double total
        double each
        const double *h
        double *r
        double sum
        double decrease
    void fl_primal_step_f32(fl_primal *q, fl_row x, double mean, double curvature,
                            double *w) noexcept
    void fl_primal_step_f64(fl_primal *q, fl_row x, double mean, double curvature,
                            double *w) noexcept
    void fl_primal_float_step_f32(fl_row x, double l1, double l2, double *w, float *rows,
                                  double *seen) noexcept
    void fl_primal_float_step_f64(fl_row x, double l1, double l2, double *w, float *rows,
                                  double *seen) noexcept
    void fl_primal_moments_f32(const fl_primal *q, fl_row x, int64_t n, double *mean,
                               double *curvature) noexcept
    void fl_primal_moments_f64(const fl_primal *q, fl_row x, int64_t n, double *mean,
                               double *curvature) noexcept
    double fl_primal_target(double old, double slope, double bend, double l1,
                            int positive) noexcept
    int64_t fl_entry_column(fl_row row, int64_t k) noexcept
    double fl_entry_f32(fl_row row, int64_t k) noexcept
    double fl_entry_f64(fl_row row, int64_t k) noexcept


cdef extern from "fl_counts.h" nogil:
    struct fl_smoothing:
        int64_t K
        int64_t d
        const double *count
        const double *whole
        const double *alpha
        const double *log_whole
        const double *shift
        int64_t class_stride
        int64_t feature_stride
        double sign
        double factor
        void (*logs)(double *x, int64_t n) noexcept nogil
    void fl_smoothed_logs(const fl_smoothing *s, int64_t start, int64_t stop,
                          double *out) noexcept
    void fl_smoothed_ratios(const fl_smoothing *s, const fl_smoothing *minus, int64_t start,
                            int64_t stop, double *out, double *sums) noexcept
    void fl_count_f32(fl_row row, bint binary, double threshold, double c, double *count) noexcept
    void fl_count_f64(fl_row row, bint binary, double threshold, double c, double *count) noexcept
    void fl_count_scores_f32(fl_row row, int64_t following, bint binary, double threshold,
                             int64_t K, const double *V, double *z) noexcept
    void fl_count_scores_f64(fl_row row, int64_t following, bint binary, double threshold,
                             int64_t K, const double *V, double *z) noexcept
