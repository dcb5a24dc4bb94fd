"""Compiled kernels: every loop over samples. No defaults, no messages, no checks of user input."""
