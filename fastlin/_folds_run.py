"""Points of a grid x splits: each pair is fitted on its training rows and scored on its test rows.

Three ways lead there, and the results don't show which was taken:

- models that `_onepass.fits_together` accepts train in common passes over the data;
- the steps of a pipeline before its last are shared (`_shared_steps`);
- anything else is fitted alone, in threads, on slices of the rows.

Nothing here draws random numbers, and every estimator is a clone of its own: neither the number of
threads nor the way changes what is drawn.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from . import _parallel
from ._answers import answered
from ._batches import batches
from ._clone import clone
from ._folds import is_pairwise, order_of, trained_on
from ._held_out import held_out_answers, is_leave_one_out
from ._multilabel import is_multilabel
from ._onepass import fit_together, fits_together
from ._plan import Outcome, Plan, rows_of_params
from ._shared_steps import Steps, steps_key, steps_of
from ._splitters import n_rows, take
from .pipeline import _fitted_transform

__all__ = ["run"]


@dataclass
class _Group:
    """Points of the grid that see the same rows.

    Attributes
    ----------
    X : Any
        All rows, after the steps that are done.
    steps : list of Steps or None
        Of each candidate, if they are pipelines; those still to do are in `stateful`.
    done : dict of str to estimator
        Fitted steps.
    seconds : float
        Time that the fitted steps took for each of the models.
    """

    plan: Plan
    candidates: list[int]
    X: Any
    steps: list[Steps] | None = None
    done: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


class _Data:
    """Training and test rows of one split, as the learner sees them."""

    def __init__(self, group: _Group, split: int):
        self.plan, self.group = group.plan, group
        self.train, self.test = group.plan.splits[split]
        self.is_pairwise = group.steps is None and is_pairwise(group.plan.estimator)
        self.done = dict(group.done)
        self.X_train = self.X_test = None
        self.taken: dict[bool, Any] = {}

    def X_of(self, train: bool) -> Any:
        """Return rows after the steps that are done."""
        kept = self.X_train if train else self.X_test
        return self.cut(self.group.X, train) if kept is None else kept

    def cut(self, X: Any, train: bool) -> Any:
        """Return the training or test rows of something with all rows."""
        part = take(X, self.train if train else self.test)
        return take(part.T, self.train).T if self.is_pairwise else part

    def y_of(self, train: bool) -> Any:
        """Return the targets of the training or test rows."""
        return take(self.plan.y, self.train if train else self.test)

    def y_scored(self, train: bool) -> Any:
        """The same: of scorers that are known to change nothing, each gets the same array."""
        if not self.plan.needs_responses_only:
            return self.y_of(train)
        if train not in self.taken:
            self.taken[train] = self.y_of(train)
        return self.taken[train]

    @cached_property
    def asked(self) -> np.ndarray:
        """Rows whose responses give the scores: the test rows, and perhaps the training rows."""
        both = self.plan.train_scores
        return np.concatenate([self.test, self.train]) if both else self.test

    def params_of(self, params: dict[str, Any], train: bool) -> dict[str, Any]:
        """Return arguments cut to the training or test rows."""
        return rows_of_params(params, self.train if train else self.test, n_rows(self.plan.X))


@dataclass
class _Job:
    """One learner of a group on one split."""

    outcome: Outcome
    group: _Group
    place: int
    learner: Any = None

    def made(self) -> Any:
        """Return the learner, fresh: the last step of a pipeline, or the estimator itself."""
        if self.group.steps is None:
            return self.group.plan.made(self.outcome.candidate)
        return clone(self.group.steps[self.place].last[1])

    @property
    def fit_params(self) -> dict[str, Any]:
        """Arguments of the learner's `fit`."""
        if self.group.steps is None:
            return self.group.plan.fit_params
        steps = self.group.steps[self.place]
        return steps.fit_params[steps.last[0]]

    def whole(self, data: _Data) -> Any:
        """Return the fitted estimator that the user knows."""
        if self.group.steps is None:
            return self.learner
        pipeline = self.group.plan.made(self.outcome.candidate)
        fitted = {**data.done, pipeline.steps[-1][0]: self.learner}
        pipeline.steps = [(name, fitted.get(name, step)) for name, step in pipeline.steps]
        return pipeline


def run(plan: Plan) -> list[Outcome]:
    """Fit and score everything; outcomes come point by point, each with its splits in order."""
    n_splits = len(plan.splits)
    outcomes = [Outcome(c, s) for c in range(len(plan.candidates)) for s in range(n_splits)]
    tasks: list[Callable[[], None]] = []
    for group in _groups(plan):
        if group.steps is not None and group.steps[0].stateless:
            _run_stateless(group)
        jobs = [
            [_Job(outcomes[c * n_splits + s], group, k) for k, c in enumerate(group.candidates)]
            for s in range(n_splits)
        ]
        if group.steps is not None and group.steps[0].stateful:
            for s in range(n_splits):
                tasks.append(partial(_run_fold, jobs[s], _Data(group, s)))
        else:
            tasks += _flat_tasks(group, [job for fold in jobs for job in fold])
        if group.done:
            # one transformed copy of the data at a time
            _parallel.run(_with_callers_settings(tasks), plan.n_jobs)
            tasks, group.X = [], None
    _parallel.run(_with_callers_settings(tasks), plan.n_jobs)
    return outcomes


def _with_callers_settings(tasks: list[Callable[[], None]]) -> list[Callable[[], None]]:
    """Let tasks see scikit-learn's settings of this thread, which are no other thread's."""
    sklearn = sys.modules.get("sklearn")
    if not hasattr(sklearn, "config_context"):
        return tasks
    settings = sklearn.get_config()

    def with_settings(task: Callable[[], None]) -> None:
        """Run one."""
        with sklearn.config_context(**settings):
            task()

    return [partial(with_settings, task) for task in tasks]


def _groups(plan: Plan) -> list[_Group]:
    """Return the points of the grid by the steps before the last."""
    found: dict[Any, _Group] = {}
    whole = is_pairwise(plan.estimator)
    for c, params in enumerate(plan.candidates):
        estimator = plan.made(c)
        steps = None if whole else steps_of(estimator, plan.fit_params)
        key = None if steps is None else steps_key(steps, params)
        if key not in found:
            found[key] = _Group(plan, [], plan.X, None if steps is None else [])
        found[key].candidates.append(c)
        if steps is not None:
            found[key].steps.append(steps)
    return list(found.values())


def _run_stateless(group: _Group) -> None:
    """Run the stateless steps on all rows; if one fails, leave it to the folds, for they may
    differ."""
    steps, plan, X = group.steps[0], group.plan, group.plan.X
    start = time.perf_counter()
    done = {}
    try:
        for name, step in steps.stateless:
            X = _fitted_transform(step, X, plan.y, steps.fit_params[name])
            done[name] = step
    except _parallel.Cancelled:
        raise
    except Exception:
        for each in group.steps:
            each.stateless, each.stateful = [], each.stateless + each.stateful
        return
    group.X, group.done = X, done
    n_models = len(group.candidates) * len(plan.splits)
    group.seconds = (time.perf_counter() - start) / n_models


def _flat_tasks(group: _Group, jobs: list[_Job]) -> list[Callable[[], None]]:
    """Train and score what trains together; return tasks for all else."""
    plan = group.plan
    jobs = _without_closed_forms(group, jobs)
    together, alone = _parted(plan, jobs)
    among = trained_on(plan.splits, {job.outcome.split for job in together}, n_rows(group.X))
    keep = plan.keep or not plan.needs_responses_only
    for batch in batches(together, group.X, keep):
        by_split = {s: _Data(group, s) for s in {job.outcome.split for job in batch}}
        datas = [by_split[job.outcome.split] for job in batch]
        ask = [data.asked for data in datas]
        weight = batch[0].fit_params.get("sample_weight")
        train = [data.train for data in datas]
        answers = _train_together(batch, group.X, plan.y, weight, train, ask, plan.n_jobs,
                                  keep, among)
        scores = [
            partial(_score_answers, job, data, z)
            for job, data, z in zip(batch, datas, answers, strict=True)
            if z is not None
        ]
        _parallel.run(_with_callers_settings(scores), plan.n_jobs)
    return [partial(_run_alone, job, _Data(group, job.outcome.split)) for job in alone]


def _without_closed_forms(group: _Group, jobs: list[_Job]) -> list[_Job]:
    """Answer the jobs whose learners know what they would say to each row if it had been left out;
    return the others."""
    plan = group.plan
    asks_only_that = plan.method in (None, "predict") and not plan.keep and not plan.train_scores
    by_responses = plan.needs_responses_only
    if not (asks_only_that and by_responses and group.steps is None and is_leave_one_out(plan)):
        return jobs
    answers: dict[int, Any] = {}
    start, others = time.perf_counter(), []
    for job in jobs:
        c = job.outcome.candidate
        if c not in answers:
            job.learner = job.made()
            answers[c] = held_out_answers(job.learner, group.X, plan.y, job.fit_params)
    seconds = (time.perf_counter() - start) / len(jobs)
    for job in jobs:
        z = answers[job.outcome.candidate]
        if z is None:
            others.append(job)
            continue
        job.learner = job.made() if job.learner is None else job.learner
        job.outcome.fit_time = seconds
        data = _Data(group, job.outcome.split)
        _score_answers(job, data, z[data.test])
    return others


def _parted(plan: Plan, jobs: list[_Job]) -> tuple[list[_Job], list[_Job]]:
    """Return the jobs whose learners train together, and the others."""
    together: list[_Job] = []
    alone: list[_Job] = []
    shuffles: dict[int, bool | None] = {}
    orders = [order_of(train) for train, _ in plan.splits] if jobs else []
    for job in jobs:
        c = job.outcome.candidate
        if c not in shuffles:
            learner = job.made()
            known = plan.y is not None and set(job.fit_params) <= {"sample_weight"}
            accepted = known and fits_together(learner) and not is_multilabel(plan.y)
            # what is solved exactly has an optimum, and no order of rows
            shuffles[c] = bool(getattr(learner, "shuffle", True)) if accepted else None
        # rows that train together are a mask: it holds none twice, and knows no order of its own
        order = orders[job.outcome.split]
        fits = order == "rising" or shuffles[c] and order == "mixed"
        fits = fits and len(plan.splits[job.outcome.split][1]) > 0
        (together if fits and shuffles[c] is not None else alone).append(job)
    return together, alone


def _train_together(
    jobs: list[_Job],
    X: Any,
    y: Any,
    weight: Any,
    train: list,
    test: list | None,
    n_jobs: int | None,
    keep: bool,
    among: Any = None,
) -> list:
    """Fit learners in common passes; returns their responses, None for those that failed."""
    plan = jobs[0].group.plan
    for job in jobs:
        job.learner = job.made()
    start = time.perf_counter()
    try:
        answers = fit_together(
            [job.learner for job in jobs], X, np.asarray(y), train, test,
            sample_weight=None if weight is None else np.asarray(weight),
            n_jobs=n_jobs, memory_limit=plan.memory_limit, keep=keep, among=among,
        )  # fmt: skip
    except _parallel.Cancelled:
        raise
    except Exception as error:
        answers = [error] * len(jobs)
    seconds = (time.perf_counter() - start) / len(jobs)
    for k, job in enumerate(jobs):
        job.outcome.fit_time = seconds + job.group.seconds
        if isinstance(answers[k], Exception):
            _fail(job, answers[k])
            answers[k] = None
    return answers


def _fail(job: _Job, error: Exception) -> None:
    """Note that a fit failed, or raise it."""
    if job.group.plan.raises:
        raise error
    job.outcome.failure = error
    _report(job)


def _run_fold(jobs: list[_Job], data: _Data) -> None:
    """Fit the stateful steps on the training rows, then all learners on what they make of them."""
    try:
        _fit_fold(jobs, data)
    finally:
        # what they made of them is not to wait for the other folds
        data.X_train = data.X_test = None
        data.done = {}


def _fit_fold(jobs: list[_Job], data: _Data) -> None:
    """Fit and score everything of one fold."""
    group, plan = jobs[0].group, jobs[0].group.plan
    start = time.perf_counter()
    try:
        _fit_steps(group, data)
    except _parallel.Cancelled:
        raise
    except Exception as error:
        for job in jobs:
            _fail(job, error)
        return
    seconds = (time.perf_counter() - start) / len(jobs)
    together, alone = _parted(plan, jobs)
    for batch in batches(together, data.X_train, keep=True):
        y, rows = data.y_of(train=True), [np.arange(len(data.train))] * len(batch)
        weight = data.params_of(batch[0].fit_params, train=True).get("sample_weight")
        _train_together(batch, data.X_train, y, weight, rows, None, 1, keep=True)
        for job in batch:
            job.outcome.fit_time += seconds
            if job.outcome.failure is None:
                _score(job, data)
    for job in alone:
        _run_alone(job, data)
        job.outcome.fit_time += seconds


def _fit_steps(group: _Group, data: _Data) -> None:
    """Fit the stateful steps on the training rows only, and transform the test rows."""
    steps, y = group.steps[0], data.y_of(train=True)
    X_train, X_test = data.cut(group.X, train=True), data.cut(group.X, train=False)
    for name, step in steps.stateful:
        step = clone(step)
        params = data.params_of(steps.fit_params[name], train=True)
        X_train = _fitted_transform(step, X_train, y, params)
        X_test = step.transform(X_test)
        data.done[name] = step
    data.X_train, data.X_test = X_train, X_test


def _run_alone(job: _Job, data: _Data) -> None:
    """Fit one learner on its training rows and score it."""
    start = time.perf_counter()
    try:
        job.learner = job.made()
        y, params = data.y_of(train=True), data.params_of(job.fit_params, train=True)
        targets = () if y is None else (y,)
        job.learner.fit(data.X_of(train=True), *targets, **params)
    except _parallel.Cancelled:
        raise
    except Exception as error:
        job.outcome.fit_time = time.perf_counter() - start + job.group.seconds
        _fail(job, error)
        return
    job.outcome.fit_time = time.perf_counter() - start + job.group.seconds
    _score(job, data)


def _score(job: _Job, data: _Data) -> None:
    """Score a fitted learner, or the pipeline around it, where a scorer may look at that."""
    plan, outcome = job.group.plan, job.outcome
    by_learner = plan.scorers is None or plan.scorers.ask_methods_only()
    model = job.learner if by_learner else job.whole(data)

    def rows(train: bool) -> Any:
        """Return what the model takes."""
        return data.X_of(train) if by_learner else data.cut(plan.X, train)

    if plan.method is not None:
        outcome.answers = getattr(model, plan.method)(rows(train=False))
    _fill_scores(job, data, [model] * 2, rows)
    _finish(job, data)


def _score_answers(job: _Job, data: _Data, responses: np.ndarray) -> None:
    """Score a learner by its responses to the test rows, and perhaps to the training rows after."""
    plan, outcome, n_test = job.group.plan, job.outcome, len(data.test)
    models = [answered(job.learner, z) for z in (responses[:n_test], responses[n_test:])]
    if not plan.needs_responses_only:
        _score(job, data)
        return
    if plan.method is not None:
        getattr(job.learner, plan.method)  # says better what is missing
        outcome.answers = getattr(models[0], plan.method)(None)
    _fill_scores(job, data, models, lambda train: None)
    _finish(job, data)


def _fill_scores(job: _Job, data: _Data, models: list, rows: Callable[[bool], Any]) -> None:
    """Set the scores of the test rows and, on request, of the training rows."""
    plan, outcome = job.group.plan, job.outcome
    if plan.scorers is None:
        return
    start = time.perf_counter()

    def score(train: bool) -> dict[str, float]:
        """Score one part."""
        params = data.params_of(plan.score_params, train)
        return plan.scorers(models[train], rows(train), data.y_scored(train), params)

    outcome.scores = score(train=False)
    outcome.score_time = time.perf_counter() - start
    if plan.train_scores:
        outcome.train_scores = score(train=True)


def _finish(job: _Job, data: _Data) -> None:
    """Keep the estimator, or let it go."""
    job.outcome.classes = getattr(job.learner, "classes_", None)
    if job.group.plan.keep:
        job.outcome.estimator = job.whole(data)
    job.learner = None
    _report(job)


def _report(job: _Job) -> None:
    """Print a line about one fit, if the user wants to see them."""
    plan, outcome = job.group.plan, job.outcome
    if plan.verbose < 2:
        return
    params = ", ".join(f"{k}={v!r}" for k, v in sorted(plan.candidates[outcome.candidate].items()))
    if outcome.failure is not None:
        result = f"failed: {outcome.failure}"
    else:
        result = ", ".join(f"{name} {value:.4g}" for name, value in (outcome.scores or {}).items())
    place = f"[fold {outcome.split + 1} of {len(plan.splits)}]"
    print(f"{place} {params or 'fitted'}; {result}; {outcome.fit_time:.2f} s")
