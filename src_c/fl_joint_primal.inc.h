/* The steps of fl_joint_primal.h for one type FL_REAL; included once per type, hence no guard. */

/* The slope of the quadratic part along a column. */
FL_INLINE double FL_TYPED(fl_joint_model_slope)(const struct fl_joint_model *q, struct fl_row x) {
    const double *FL_RESTRICT h = q->h, *FL_RESTRICT t = q->t, *FL_RESTRICT m = q->m;
    double sum = 0;
    FL_EACH(x, i, value, sum += (double)value * h[i] * (t[i] - m[i]););
    return sum;
}

/* Its curvature, and the sum of squares that |g| weighs: with the gradient of softmax for g, that
 * stays above 0 where rows are wrong and sure of it and the loss is nearly a line. */
FL_INLINE double FL_TYPED(fl_joint_model_bend)(const struct fl_joint_model *q, struct fl_row x,
                                               double *size) {
    const double *FL_RESTRICT h = q->h, *FL_RESTRICT e = q->e, *FL_RESTRICT g = q->g;
    double bend = 0, sum = 0;
    FL_EACH(x, i, value, {
        const double square = (double)value * (double)value;
        bend += square * h[i] * (1.0 - e[i] * h[i]);
        sum += square * fl_abs(g[i]);
    });
    *size = sum;
    return fl_max(0.0, bend);
}

/* A step along a column. */
FL_INLINE void FL_TYPED(fl_joint_model_move)(const struct fl_joint_model *q, struct fl_row x,
                                             double step) {
    const double *FL_RESTRICT h = q->h, *FL_RESTRICT e = q->e;
    double *FL_RESTRICT t = q->t, *FL_RESTRICT m = q->m;
    FL_EACH(x, i, value, {
        const double by = step * (double)value;
        t[i] += by;
        m[i] += by * e[i] * h[i];
    });
}
