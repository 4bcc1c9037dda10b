"""What one more row costs a step of a few answers, learnt from the seconds that steps took."""

MEMORY = 0.97
"""What an observation weighs after the next: some 30 steps are remembered."""
PRIOR = 0.1
"""Before anything is known. CPUs that wait for memory need a fortieth of a step, AVX2 a fifth, mixtures half."""
_PRIOR_WEIGHT = 1.0
_LEAST, _MOST = 0.005, 4.0
_KNOWN = 8.0  # observations; from then on what takes far too long is something else on this machine


class RowCost:
    """For steps with the same number of answers: a line through (rows guessed, seconds), old steps counting less."""

    def __init__(self) -> None:
        self._count = self._rows = self._squares = 0.0  # weighted sums
        self._seconds = self._products = 0.0

    def record(self, rows: int, seconds: float) -> None:
        """A step with so many guesses took so long."""
        if self._count >= _KNOWN:
            row, base = self._line()
            seconds = min(seconds, 2 * (base + row * rows))
        self._count = MEMORY * self._count + 1
        self._rows = MEMORY * self._rows + rows
        self._squares = MEMORY * self._squares + rows * rows
        self._seconds = MEMORY * self._seconds + seconds
        self._products = MEMORY * self._products + rows * seconds

    @property
    def is_known(self) -> bool:
        """Whether steps of late had different numbers of guesses; else nothing is learnt from them."""
        return bool(self._count) and self._variance >= 1

    @property
    def _variance(self) -> float:
        return self._squares - self._rows * self._rows / self._count

    @property
    def of_step(self) -> float:
        """What a row adds to a step, as a share of a step without guesses."""
        if not self._count:
            return PRIOR
        row, base = self._line()
        return min(max(row / base, _LEAST), _MOST) if base > 0 else _MOST

    @property
    def step_seconds(self) -> float:
        """Of a step without guesses; 0: nothing is known."""
        return max(self._line()[1], 0.0) if self._count else 0.0

    def _line(self) -> tuple[float, float]:
        """Seconds for each row, and of a step without any."""
        mean_rows, mean = self._rows / self._count, self._seconds / self._count
        covariance = self._products - self._seconds * mean_rows
        expected = PRIOR * mean / (1 + PRIOR * mean_rows)
        row = (covariance + _PRIOR_WEIGHT * expected) / (self._variance + _PRIOR_WEIGHT)
        return row, mean - row * mean_rows
