"""A joint model of a search: its classes are one problem, so it is solved by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._dual_models import DualStream
from ._fold_targets import Job
from ._joint_fit import publish_joint, solve_joint
from ._joint_problem import Distributions
from ._linear import responses_to_rows
from ._row_slices import rows_taken

__all__ = ["JointTask"]


class JointTask:
    """The fit of one estimator on the rows of a fold, for a thread."""

    def __init__(self, stream: DualStream, job: Job, present: np.ndarray, table: np.ndarray):
        self.stream, self.job, self.present, self.table = stream, job, present, table
        self.error: ValueError | None = None
        self.fit: Any = None
        self.responses: np.ndarray | None = None

    def __call__(self) -> JointTask:
        stream, job = self.stream, self.job
        rows = np.flatnonzero(stream.memberships[job.fold])
        codes = stream.codes[rows]
        weight = self.table[codes]
        if len(stream.sample_weight):
            weight = weight * stream.sample_weight[rows]
        number = np.zeros(len(self.table), dtype=np.int32)
        number[self.present] = np.arange(len(self.present))
        target = Distributions.of_codes(number[codes], len(self.present))
        X = rows_taken(stream.X, rows)
        try:
            self.fit, kept = solve_joint(
                job.estimator, X, target, None if (weight == 1).all() else weight
            )
            publish_joint(job.estimator, self.fit, kept, len(self.present), X.dtype)
        except ValueError as error:
            self.error = error
            return self
        if job.test is not None:
            self.responses = responses_to_rows(job.estimator, rows_taken(stream.X, job.test))
        return self
