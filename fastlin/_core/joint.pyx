"""The loop of training over rows for K outputs at once and for adaptive steps. `fl_joint.h` states
the steps and the symbols; with K = 1 the loss is one of a margin or a target, else a joint one."""

import numpy as np

from libc.stdint cimport int64_t

from .c cimport (FL_SGD, adaptive_collected, adaptive_row, fl_adaptive, fl_adaptive_begin,
                 fl_adaptive_intercepts, fl_adaptive_publish_f32, fl_adaptive_publish_f64,
                 fl_adaptive_step, fl_is_long, fl_joint_loss, fl_loss_add, fl_loss_settle,
                 fl_loss_sum, fl_pa_coefficient, fl_per_column, fl_per_column_add,
                 fl_per_column_none, fl_per_column_plan, fl_per_column_weave, fl_prefetch_columns,
                 fl_row, fl_rows, fl_sgd_eta, fl_sgd_rule, fl_sgd_state, joint_add, joint_collect,
                 joint_pay, joint_scores, prefetch_all, real, row_at, sgd_decay, square_norm)
from .multi cimport packed_kernels_for
from .packed cimport FL_PACKED_SUMS, fl_packed_kernels, fl_packed_later, packed_dot
from .rows cimport Rows
from .sgd cimport (end_step, kept_per_column, look_ahead, look_further, no_row, row_in_dot,
                   row_in_update)

# Numbers in `sums` of `run_packed`
PACKED_SUMS = FL_PACKED_SUMS

# Rows of `b`, the intercepts: their values, the sum for averaging, their two moments.
cdef enum:
    VALUE
    SUM
    MOMENT_A
    MOMENT_B


cdef inline void add_loss(fl_loss_sum *total, const fl_sgd_rule *rule, const double *z, int64_t K,
                          double y, double s, double *g, int64_t *active,
                          int64_t *n_active) noexcept nogil:
    """Add the loss of a row of weight s to `total`; g: its derivatives, where they are not 0."""
    cdef int64_t a
    if K == 1:
        g[0] = fl_loss_add(total, rule.loss, z[0], y, rule.loss_parameter, s)
        active[0] = 0
        n_active[0] = g[0] != 0
        return
    total.sum += s * fl_joint_loss(rule.loss, z, K, <int64_t>y, rule.loss_parameter, g, active,
                                   n_active)
    for a in range(n_active[0]):
        g[active[a]] *= s


cdef inline void end_joint_step(const fl_sgd_rule *rule, fl_sgd_state *state, int64_t K,
                                const double *intercepts, double *sums) noexcept nogil:
    cdef int64_t c
    if rule.average_from > 0 and state.t >= rule.average_from:
        for c in range(K):
            sums[c] += intercepts[c]
    end_step(rule, state)


cdef inline void add_adaptive(fl_per_column *columns, const fl_rows *X, int64_t K, const real *A,
                              const real *B, const double *visits) noexcept nogil:
    """What adaptive steps keep per column beside what all learners do."""
    fl_per_column_add(columns, A, K * sizeof(real))
    fl_per_column_add(columns, B, K * sizeof(real))
    fl_per_column_add(columns, visits, K * sizeof(double))
    fl_per_column_plan(columns, X)


cdef inline void mean_gradient(Py_ssize_t m, int64_t K, const double *gradients,
                               const int64_t *active, const int64_t *n_active,
                               double *mean) noexcept nogil:
    """That of the intercepts, over a batch of m rows."""
    cdef Py_ssize_t r
    cdef int64_t a, c
    for c in range(K):
        mean[c] = 0
    for r in range(m):
        for a in range(n_active[r]):
            c = active[r * K + a]
            mean[c] += gradients[r * K + c] / m


cdef inline void plain_step(const fl_sgd_rule *rule, fl_sgd_state *state, const fl_rows *X,
                            const int64_t *rows, Py_ssize_t m, int64_t K, int64_t size,
                            const double *gradients, const int64_t *active,
                            const int64_t *n_active, const double *mean, double *intercepts,
                            real *scratch, real *weights, real *sums,
                            real *payments) noexcept nogil:
    """The step of a batch of m rows along its gradient, with the penalties."""
    cdef Py_ssize_t r
    cdef int64_t a, c
    cdef double eta = fl_sgd_eta(rule, state.t)
    sgd_decay(rule, state, eta, size, weights, sums)
    state.l1_total += eta * rule.l1
    for r in range(m):
        for a in range(n_active[r]):
            c = active[r * K + a]
            scratch[c] = <real>(-eta / (m * state.scale) * gradients[r * K + c])
        if n_active[r]:
            joint_add(state, row_at(X, rows[r], weights), K, scratch, active + r * K, n_active[r],
                      weights, sums)
    if payments != NULL:
        for r in range(m):
            joint_pay(state, row_at(X, rows[r], weights), K, weights, sums, payments)
    if rule.fit_intercept:
        for c in range(K):
            intercepts[c] -= eta * mean[c]


cdef inline void adaptive_steps(const fl_adaptive *step, double sum_scale, const fl_rows *X,
                                const int64_t *rows, Py_ssize_t m, int64_t K,
                                const double *gradients, const int64_t *active,
                                const int64_t *n_active, real *weights, real *A, real *B,
                                double *visits, double *G, real *sums) noexcept nogil:
    """The adaptive steps of a batch of m rows, whose gradient is collected in G; a batch of one row
    needs no G."""
    cdef Py_ssize_t r
    if G == NULL:
        adaptive_row(step, sum_scale, row_at(X, rows[0], weights), K, gradients, active,
                     n_active[0], weights, A, B, visits, sums)
        return
    for r in range(m):
        joint_collect(row_at(X, rows[r], weights), K, gradients + r * K, 1.0 / m, active + r * K,
                      n_active[r], G, weights)
    for r in range(m):
        adaptive_collected(step, sum_scale, row_at(X, rows[r], weights), K, G, weights, A, B,
                           visits, sums)


def run(Rows X, const double[::1] y, const double[::1] sample_weight, const int64_t[::1] order,
        const int64_t[::1] fetch, fl_sgd_rule rule, int optimizer, double decay, double decay1,
        double epsilon, fl_sgd_state state, double[:, ::1] b, real[::1] V, real[::1] u,
        real[::1] paid, real[:, ::1] moments, double[::1] last, double[::1] collected):
    """Visit the rows in `order`, one step per `rule.batch_size` of them; returns the new state.

    y holds class numbers where K > 1. Empty arrays stand for what is not in use: weights of rows,
    averaging, L1 penalty, moments, visits (no penalty), gradients of batches larger than one. For
    `fetch` see `sgd.look_ahead`.
    """
    cdef Py_ssize_t k = 0, r, m, stop = order.shape[0]
    cdef int64_t i, K = b.shape[1], size = V.shape[0], batch = rule.batch_size
    cdef double s
    cdef bint weighted = sample_weight.shape[0] > 0
    cdef real *weights = &V[0]
    cdef real *sums = &u[0] if u.shape[0] else NULL
    cdef real *payments = &paid[0] if paid.shape[0] else NULL
    cdef real *A = &moments[0, 0] if moments.shape[0] > 0 else NULL
    cdef real *B = &moments[1, 0] if moments.shape[0] > 1 else NULL
    cdef double *visits = &last[0] if last.shape[0] else NULL
    cdef double *G = &collected[0] if collected.shape[0] else NULL
    cdef double[:, ::1] gradients = np.zeros((batch, K))
    cdef int64_t[:, ::1] active = np.zeros((batch, K), dtype=np.int64)
    cdef int64_t[::1] n_active = np.zeros(batch, dtype=np.int64)
    cdef double[::1] z = np.empty(K), intercept_gradient = np.empty(K)
    cdef real[::1] scratch = np.empty(K, dtype=np.asarray(V).dtype)
    cdef fl_adaptive step = fl_adaptive_begin(&rule, optimizer, decay, decay1, epsilon)
    cdef fl_loss_sum total = fl_loss_sum(0, 1)
    cdef fl_per_column columns = kept_per_column(&X.c, K, weights, sums, payments)
    add_adaptive(&columns, &X.c, K, A, B, visits)
    with nogil:
        while k < stop:
            m = min(batch, stop - k)
            state.t += 1
            for r in range(m):
                i = order[k + r]
                joint_scores(row_at(&X.c, i, weights), K, weights, state.scale, &b[VALUE, 0],
                             &scratch[0], &z[0])
                s = sample_weight[i] if weighted else 1.0
                add_loss(&total, &rule, &z[0], K, y[i], s, &gradients[r, 0], &active[r, 0],
                         &n_active[r])
                state.sum_weight += s
                look_ahead(&X.c, y, order, fetch, k + r, &columns, weights)
            mean_gradient(m, K, &gradients[0, 0], &active[0, 0], &n_active[0],
                          &intercept_gradient[0])
            if optimizer == FL_SGD:
                plain_step(&rule, &state, &X.c, &order[k], m, K, size, &gradients[0, 0],
                           &active[0, 0], &n_active[0], &intercept_gradient[0], &b[VALUE, 0],
                           &scratch[0], weights, sums, payments)
            else:
                fl_adaptive_step(&step, &rule, state.t)
                adaptive_steps(&step, state.sum_scale, &X.c, &order[k], m, K, &gradients[0, 0],
                               &active[0, 0], &n_active[0], weights, A, B, visits, G, sums)
                if rule.fit_intercept:
                    fl_adaptive_intercepts(&step, K, &intercept_gradient[0], &b[VALUE, 0],
                                           &b[MOMENT_A, 0], &b[MOMENT_B, 0])
            end_joint_step(&rule, &state, K, &b[VALUE, 0], &b[SUM, 0])
            k += m
        fl_loss_settle(&total)
        state.sum_loss += total.sum
    return state


def run_packed(int isa, Rows X, const double[::1] y, const double[::1] sample_weight,
               const int64_t[::1] order, const int64_t[::1] fetch, fl_sgd_rule rule, int optimizer,
               double decay, double decay1, double epsilon, fl_sgd_state state,
               double[:, ::1] b, real[:, ::1] packed, real[::1] u, real[::1] sums):
    """`run` for adaptive steps of one output and one row each, not of dense rows, by the kernels of
    an instruction set: packed[j] holds the weight of column j and what is kept with it, as
    `fl_packed.h` says; `sums` are finite in the end only if all new weights are."""
    cdef Py_ssize_t k, stop = order.shape[0]
    cdef int64_t i, active = 0, n_active = 0
    cdef int shift = 1 if packed.shape[1] == 2 else 2
    cdef bint lazy = rule.l1 > 0 or rule.l2 > 0
    cdef double z, g = 0, s
    cdef bint weighted = sample_weight.shape[0] > 0
    cdef real *P = &packed[0, 0]
    cdef real *average = &u[0] if u.shape[0] else NULL
    cdef fl_adaptive step = fl_adaptive_begin(&rule, optimizer, decay, decay1, epsilon)
    cdef const fl_packed_kernels *kernels = packed_kernels_for(isa, real is double)
    cdef fl_loss_sum total = fl_loss_sum(0, 1)
    cdef fl_row row, following
    cdef fl_packed_later later
    cdef fl_per_column columns = fl_per_column_none()
    fl_per_column_add(&columns, P, packed.shape[1] * sizeof(real))
    fl_per_column_add(&columns, average, sizeof(real))
    fl_per_column_plan(&columns, &X.c)
    fl_per_column_weave(&columns, &X.c)
    with nogil:
        for k in range(stop):
            i = order[k]
            row = row_at(&X.c, i, P)
            state.t += 1
            following, later.columns = row_in_dot(&X.c, order, k, &columns, P), no_row(&X.c)
            if n_active and fl_is_long(row):  # as in the last step, there will be an update
                following, later.columns = later.columns, following
            z = packed_dot(row, P, shift, following)
            z = state.scale * z + b[VALUE, 0]
            s = sample_weight[i] if weighted else 1.0
            add_loss(&total, &rule, &z, 1, y[i], s, &g, &active, &n_active)
            state.sum_weight += s
            look_further(&X.c, y, order, fetch, k, &columns)
            later.row = row_in_update(&X.c, fetch, k, P)
            if not (n_active and fl_is_long(row)):
                prefetch_all(later.row, P)
                later.row.size = 0
            fl_adaptive_step(&step, &rule, state.t)
            if n_active:
                kernels.row(&step, state.sum_scale, row, g, P, lazy, average, &sums[0], later)
            elif later.columns.size:
                fl_prefetch_columns(&X.c, order[k + columns.ahead_in_dot], &columns)
            if rule.fit_intercept:
                fl_adaptive_intercepts(&step, 1, &g, &b[VALUE, 0], &b[MOMENT_A, 0],
                                       &b[MOMENT_B, 0])
            end_joint_step(&rule, &state, 1, &b[VALUE, 0], &b[SUM, 0])
        fl_loss_settle(&total)
        state.sum_loss += total.sum
    return state


def run_passive_aggressive(Rows X, const double[::1] y, const double[::1] sample_weight,
                           const int64_t[::1] order, const int64_t[::1] fetch, fl_sgd_rule rule,
                           fl_sgd_state state, double[:, ::1] b, real[::1] V, real[::1] u):
    """Passive-aggressive steps of K > 1 outputs: the true class against its strongest rival, both
    of which move, so |x|^2 counts twice; returns the new state."""
    cdef Py_ssize_t k, stop = order.shape[0]
    cdef int64_t i, c, a, n_active, K = b.shape[1]
    cdef double s, q, loss, tau
    cdef bint weighted = sample_weight.shape[0] > 0
    cdef real *weights = &V[0]
    cdef real *sums = &u[0] if u.shape[0] else NULL
    cdef double[::1] z = np.empty(K), g = np.zeros(K)
    cdef int64_t[::1] active = np.zeros(K, dtype=np.int64)
    cdef real[::1] scratch = np.empty(K, dtype=np.asarray(V).dtype)
    cdef fl_per_column columns = kept_per_column(&X.c, K, weights, sums, <const real *>NULL)
    cdef fl_row row
    with nogil:
        for k in range(stop):
            i = order[k]
            row = row_at(&X.c, i, weights)
            joint_scores(row, K, weights, 1.0, &b[VALUE, 0], &scratch[0], &z[0])
            s = sample_weight[i] if weighted else 1.0
            loss = fl_joint_loss(rule.loss, &z[0], K, <int64_t>y[i], rule.loss_parameter, &g[0],
                                 &active[0], &n_active)
            look_ahead(&X.c, y, order, fetch, k, &columns, weights)
            state.t += 1
            state.sum_loss += s * loss
            state.sum_weight += s
            if loss > 0:
                q = square_norm(row, weights)
                if q > 0:
                    tau = fl_pa_coefficient(&rule, loss, -1.0, 2.0 * (q + rule.fit_intercept), s)
                    for a in range(n_active):
                        c = active[a]
                        scratch[c] = <real>(-tau * g[c])
                        if rule.fit_intercept:
                            b[VALUE, c] -= tau * g[c]
                    joint_add(&state, row, K, &scratch[0], &active[0], n_active, weights, sums)
            end_joint_step(&rule, &state, K, &b[VALUE, 0], &b[SUM, 0])
    return state


cdef inline fl_adaptive at_step(const fl_sgd_rule *rule, int optimizer, double decay,
                                double decay1, double epsilon, double t) noexcept nogil:
    """The constants of an adaptive step for weights that are published after t of them."""
    cdef fl_adaptive step = fl_adaptive_begin(rule, optimizer, decay, decay1, epsilon)
    fl_adaptive_step(&step, rule, max(t, 1.0))
    step.t = t
    return step


def publish_adaptive(fl_sgd_rule rule, int optimizer, double decay, double decay1, double epsilon,
                     double t, const real[::1] V, const real[:, ::1] moments,
                     const double[::1] last, real[::1] w):
    """w: the weights with each penalty up to date at step t."""
    cdef int64_t size = V.shape[0]
    cdef fl_adaptive step = at_step(&rule, optimizer, decay, decay1, epsilon, t)
    cdef const real *B = &moments[1, 0] if moments.shape[0] > 1 else NULL
    cdef const double *visits = &last[0] if last.shape[0] else NULL
    with nogil:
        if real is float:
            fl_adaptive_publish_f32(&step, size, &V[0], &moments[0, 0], B, visits, &w[0])
        else:
            fl_adaptive_publish_f64(&step, size, &V[0], &moments[0, 0], B, visits, &w[0])


def publish_packed(int isa, fl_sgd_rule rule, int optimizer, double decay, double decay1,
                   double epsilon, double t, const real[:, ::1] packed, real[::1] w):
    """The same of weights that lie beside what is kept with them (`run_packed`)."""
    cdef int64_t d = packed.shape[0]
    cdef fl_adaptive step = at_step(&rule, optimizer, decay, decay1, epsilon, t)
    with nogil:
        packed_kernels_for(isa, real is double).publish(&step, d, &packed[0, 0], &w[0])


def packed_norms(int isa, fl_sgd_rule rule, int optimizer, double decay, double decay1,
                 double epsilon, double t, const real[:, ::1] packed):
    """|w|_1 and |w|^2 of the weights that `publish_packed` would give."""
    cdef int64_t d = packed.shape[0]
    cdef fl_adaptive step = at_step(&rule, optimizer, decay, decay1, epsilon, t)
    cdef double[2] norms
    with nogil:
        packed_kernels_for(isa, real is double).norms(&step, d, &packed[0, 0], norms)
    return norms[0], norms[1]


def joint_loss(int loss, double parameter, const double[:, ::1] z, const double[::1] y,
               double[::1] value, double[:, ::1] gradient):
    """Joint loss and its gradient for each row of z."""
    cdef Py_ssize_t i, c, K = z.shape[1]
    cdef int64_t n_active
    cdef int64_t[::1] active = np.zeros(K, dtype=np.int64)
    with nogil:
        for i in range(z.shape[0]):
            for c in range(K):
                gradient[i, c] = 0
            value[i] = fl_joint_loss(loss, &z[i, 0], K, <int64_t>y[i], parameter, &gradient[i, 0],
                                     &active[0], &n_active)


def scores(Rows X, const real[::1] V, const double[::1] b, const int64_t[::1] rows,
           double[:, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """out[k] = W x_i + b for start <= k < stop, i = rows[k]; empty `rows`: i = k. Returns whether
    all are numbers."""
    cdef Py_ssize_t k, c
    cdef int undefined = 0
    cdef int64_t K = b.shape[0]
    cdef const int64_t *chosen = &rows[0] if rows.shape[0] else NULL
    cdef real[::1] scratch = np.empty(K, dtype=np.asarray(V).dtype)
    with nogil:
        for k in range(start, stop):
            joint_scores(row_at(&X.c, chosen[k] if chosen != NULL else k, &V[0]), K, &V[0], 1.0,
                         &b[0], &scratch[0], &out[k, 0])
            for c in range(K):
                undefined |= out[k, c] != out[k, c]
    return not undefined
