from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, overload

from ._types import Array, Matrix

version: str

def set_threads(count: int) -> None: ...
def threads() -> int: ...

class Request:
    def __init__(
        self,
        target: Optional[str],
        method: Optional[str],
        options: Mapping[str, str],
        features: Optional[int],
        seed: int,
        trial: int,
    ) -> None: ...

class Forward:
    def __init__(
        self,
        Q: Matrix,
        K: Matrix,
        V: Matrix,
        head_options: Mapping[str, object],
        request: Request,
        differentiable: bool,
    ) -> None: ...
    def output(self) -> Array: ...
    def vjp(self, G: Matrix) -> Union[Tuple[Array, Array, Array], Tuple[Array, Array, Array, Array]]: ...

def methods() -> List[Dict[str, Any]]: ...
def error(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    head_options: Mapping[str, object],
    methods: str,
    features: Optional[Sequence[int]],
    trials: int,
    seed: int,
    precision: str,
    rows: Optional[int],
    scores: bool,
    row_errors: bool,
    bounds: bool,
    name: str,
) -> Dict[str, Any]: ...
def gradient(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    head_options: Mapping[str, object],
    methods: str,
    features: Optional[Sequence[int]],
    trials: int,
    seed: int,
    precision: str,
    name: str,
) -> Dict[str, Any]: ...
def cost(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    head_options: Mapping[str, object],
    methods: str,
    features: Optional[Sequence[int]],
    repeats: int,
    warmup: int,
    seed: int,
    precision: str,
    name: str,
) -> Dict[str, Any]: ...
def spectrum(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    head_options: Mapping[str, object],
    matrices: Sequence[str],
    method: str,
    leading: int,
    probes: int,
    seed: int,
    name: str,
) -> Dict[str, Any]: ...
def spectrum_matrices() -> List[str]: ...
def dimension(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    head_options: Mapping[str, object],
    epsilons: Sequence[float],
    widths: Sequence[float],
    delta: float,
    trials: int,
    method: str,
    leading: int,
    probes: int,
    seed: int,
    name: str,
) -> Dict[str, Any]: ...
def choose(
    sequences: List[List[Tuple[Matrix, Matrix, Matrix]]],
    head_options: List[Mapping[str, object]],
    names: Sequence[Tuple[str, Optional[int], Optional[int]]],
    name: str,
    causal: bool,
    has_bias: bool,
    methods: str,
    features: Optional[Sequence[int]],
    eps: float,
    delta: float,
    confidence: float,
    metric: str,
    per: str,
    cost: str,
    max_cost: float,
    draws: Optional[int],
    rows: Optional[int],
    seed: int,
    precision: str,
) -> Tuple[Dict[str, Any], str]: ...
def read_choices(bytes: bytes, path: str) -> Dict[str, Any]: ...
def options_of_preset(preset: str) -> Dict[str, str]: ...
def choice_metrics(with_rows: bool) -> List[str]: ...
def columns(of: str) -> List[Tuple[str, str, str, str]]: ...
def verify(
    names: str,
    head: Optional[Tuple[Matrix, Matrix, Matrix, Mapping[str, object], str]],
    confidence: float,
    quick: bool,
    thorough: bool,
    trials: Optional[int],
    seed: int,
) -> Dict[str, Any]: ...
def claims() -> List[Dict[str, Any]]: ...
def sketches() -> List[Dict[str, Any]]: ...

class Sketch:
    @overload
    def __init__(
        self, text: str, rows: int, features: int, seed: int, trial: int, weights: Sequence[float]
    ) -> None: ...
    @overload
    def __init__(self, json: str) -> None: ...
    @property
    def distribution(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def features(self) -> int: ...
    def left(self, M: Matrix) -> Array: ...
    def right(self, M: Matrix) -> Array: ...
    def expand(self, M: Matrix) -> Array: ...
    def dense(self, is_float: bool) -> Array: ...
    def to_json(self) -> str: ...
