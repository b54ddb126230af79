"""The claims of papers, decided."""

from __future__ import annotations

from typing import Optional

from . import _core
from ._rows import Rows, rows_of
from ._types import Flag, Matrix, Real, Whole, Words, flag, head_options, joined, real, seed_of, text, whole


def verify(
    claims: Words = "all",
    Q: Optional[Matrix] = None,
    K: Optional[Matrix] = None,
    V: Optional[Matrix] = None,
    seed: Whole = 1,
    *,
    confidence: Real = 1 - 1e-6,
    quick: Flag = False,
    thorough: Flag = False,
    trials: Optional[Whole] = None,
    name: str = "arrays",
) -> Rows:
    """Decides claims, on the default inputs or on a head of one's own: the rows of ``croquis verify``.

    Parameters
    ----------
    claims : str or list of str
        Names or globs, as ``["sky.*", "lin.thm1/strict"]``, or "all".
    Q, K, V : arrays (n, p), (n, p), (n, p_v) of float32 or float64, optional
        A head to check them on.
    seed : int
        Of all draws, with `name`.
    confidence : float
        That no random row is wrong about its failure rate, all rows together.
    quick, thorough : bool
        A tenth of the trials, or ten times as many.
    trials : int, optional
        At most so many for every decision.
    name : str
        The name of the head in the rows. Its draws depend on it: those of the program for ``--q h_Q.npy`` are those of
        ``name="arrays:h"``.

    Returns
    -------
    Rows
        The findings of every claim, and a row with ``input`` "all" for its verdict as a whole.

    Cost: about 90 s for all claims on two cores, 20 s with `quick`.

    >>> import croquis
    >>> rows = croquis.verify("lin.jl-norm", quick=True)
    >>> rows[rows["input"] == "all"]["verdict"][0]
    'VERIFIED'
    """
    head = None
    if Q is not None or K is not None or V is not None:
        if Q is None or K is None or V is None:
            raise ValueError("verify: give all of Q, K and V, or none")
        head = (Q, K, V, head_options(False, None, None), text(name, "name"))
    most = None if trials is None else whole(trials, "trials", 2, 2**30)
    wanted = joined(claims, "claims")
    kinds = (flag(quick, "quick"), flag(thorough, "thorough"))
    if all(kinds):
        raise ValueError("quick and thorough: give one of them")
    return rows_of(_core.verify(wanted, head, real(confidence, "confidence"), *kinds, most, seed_of(seed)))
