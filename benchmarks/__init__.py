"""Benchmarks: fastlin beside scikit-learn and plain NumPy, as Markdown tables.

    python -m pip install ".[bench]"
    python -m benchmarks --list
    python -m benchmarks sgd predict          # those two, at full size
    python -m benchmarks --scale 0.1          # all of them, on a tenth of the rows
    python -m benchmarks > benchmarks/RESULTS.md

How it is measured
------------------
- CPU time of the process, all its threads; OpenBLAS and the like get one thread.
- All sides of a comparison run in turn in one process (A B C A B C ...), after a warm-up. Figures
  are medians over the rounds; a ratio is the median of the ratios within rounds, and its spread
  stands beside it. Differences below the spread mean nothing.
- The cost of a further epoch is (T(11 epochs) - T(6 epochs)) / 5: both fits prepare their data
  alike. Fits of one and five epochs include whatever a user pays for. ns/nnz is per stored entry
  (per value of dense data).
- Sides get the same arrays, the same loss, penalty and schedule, and no intercept. The objective of
  each is computed here, in double, from the coefficients that it returns: ours has to lie within
  the spread of the peer's own seeds or below, and below that of w = 0. Ten seeds, since the first
  five of a peer can lie together by chance.
- Learners in plain NumPy (`numpy_learners.py`) run on the first rows and count per entry.
- Data come from seeded recipes (`generators.py`) and are kept in benchmarks/results, which may be
  deleted at any time.

A benchmark is a module with a function `run(scale, rounds)` that prints its tables; `__main__.py`
lists them.
"""
