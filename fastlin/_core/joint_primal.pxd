"""The contract with the C file of coordinate descent on K outputs."""

from .c cimport fl_row


cdef extern from "fl_joint_primal.h" nogil:
    struct fl_joint_model:
        const double *h
        const double *e
        const double *g
        double *t
        double *m
    double fl_joint_model_slope_f32(const fl_joint_model *q, fl_row x) noexcept
    double fl_joint_model_slope_f64(const fl_joint_model *q, fl_row x) noexcept
    double fl_joint_model_bend_f32(const fl_joint_model *q, fl_row x,
                                   double *size) noexcept
    double fl_joint_model_bend_f64(const fl_joint_model *q, fl_row x,
                                   double *size) noexcept
    void fl_joint_model_move_f32(const fl_joint_model *q, fl_row x, double step) noexcept
    void fl_joint_model_move_f64(const fl_joint_model *q, fl_row x, double step) noexcept
