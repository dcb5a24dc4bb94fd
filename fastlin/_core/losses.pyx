"""The loss table of `fl_losses.h` as data, and its functions over arrays."""

from .c cimport FL_MARGIN, FL_N_LOSSES, fl_exp, fl_log1p, fl_logs, fl_loss, fl_loss_bend, \
    fl_loss_conjugate, fl_loss_curvature, fl_loss_describe, fl_loss_has_reach, fl_loss_is_joint, \
    fl_sigmoid


def table():
    """[(name, code, whether it is a loss of a margin, whether it has a joint form, whether a step
    can pass the minimum of a row, name of its parameter, its default), ...]"""
    cdef int code
    rows = []
    for code in range(FL_N_LOSSES):
        info = fl_loss_describe(code)
        rows.append((info.name.decode(), code, info.kind == FL_MARGIN,
                     bool(fl_loss_is_joint(code)), bool(fl_loss_has_reach(code)),
                     info.parameter.decode(), info.parameter_default))
    return rows


def evaluate(int loss, double parameter, const double[::1] p, const double[::1] y,
             double[::1] value, double[::1] slope):
    """Loss and slope of each (p, y)."""
    cdef Py_ssize_t i
    cdef double s
    with nogil:
        for i in range(p.shape[0]):
            value[i] = fl_loss(loss, p[i], y[i], parameter, &s)
            slope[i] = s


def total(int loss, double parameter, const double[::1] p, const double[::1] y,
          const double[::1] sample_weight):
    """Sum of the losses, weighted where `sample_weight` is not empty."""
    cdef Py_ssize_t i
    cdef double s, result = 0
    cdef bint weighted = sample_weight.shape[0] > 0
    with nogil:
        for i in range(p.shape[0]):
            result += (sample_weight[i] if weighted else 1.0) * fl_loss(loss, p[i], y[i],
                                                                        parameter, &s)
    return result


def bend(int loss):
    """The largest second derivative: 0 for losses made of lines."""
    return fl_loss_bend(loss)


def curvatures(int loss, double parameter, const double[::1] p, const double[::1] y,
               double[::1] out):
    """Second derivative at each (p, y)."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(p.shape[0]):
            out[i] = fl_loss_curvature(loss, p[i], y[i], parameter)


def total_conjugate(int loss, double parameter, const double[::1] dual, const double[::1] y,
                    const double[::1] sample_weight):
    """Sum of the conjugates at -dual, weighted where `sample_weight` is not empty."""
    cdef Py_ssize_t i
    cdef double result = 0
    cdef bint weighted = sample_weight.shape[0] > 0
    with nogil:
        for i in range(dual.shape[0]):
            if weighted and sample_weight[i] == 0:
                continue
            result += (sample_weight[i] if weighted else 1.0) * fl_loss_conjugate(
                loss, dual[i], y[i], parameter)
    return result


def exp(const double[::1] x, double[::1] out):
    """out = e^x"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = fl_exp(x[i])


def log1p(const double[::1] x, double[::1] out):
    """out = log(1 + x)"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = fl_log1p(x[i])


def log(const double[::1] x, double[::1] out):
    """out = log(x), in vector registers where 64 numbers are positive and normal"""
    if x.shape[0] == 0:
        return
    out[:] = x
    with nogil:
        fl_logs(&out[0], out.shape[0])


def sigmoid(const double[::1] x, double[::1] out):
    """out = 1 / (1 + e^-x)"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = fl_sigmoid(x[i])
