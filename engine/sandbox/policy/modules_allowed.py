"""The contents of each module that untrusted programs may import."""

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType

import numpy as np
import torch

from gradscribe.engine.sandbox.policy import plot_modules, plots, safe_variants

Maker = Callable[[], Mapping[str, object]]


def _of(name: str, words: str, *changed: Mapping[str, object]) -> Maker:
    """Return a factory of the named contents of the real module."""

    def make() -> Mapping[str, object]:
        module = importlib.import_module(name)
        contents = {n: getattr(module, n) for n in words.split() if hasattr(module, n)}
        for more in changed:
            contents |= more
        return contents

    return make


def _all(
    name: str, without: str = "", keep: Callable[[object], bool] = callable, more: str = ""
) -> Maker:
    """Return a factory of all public contents that are no modules and pass ``keep``."""

    def make() -> Mapping[str, object]:
        module = importlib.import_module(name)
        out = set(without.split())
        contents = {
            word: thing
            for word, thing in vars(module).items()
            if not word.startswith("_") and word not in out
            if not isinstance(thing, ModuleType) and keep(thing)
        }
        return contents | {word: getattr(module, word) for word in more.split()}

    return make


def _is_math(thing: object) -> bool:
    return callable(thing) or isinstance(thing, float)


def _is_function(thing: object) -> bool:
    own = getattr(thing, "__module__", "") or ""
    return callable(thing) and not isinstance(thing, type) and not own.startswith("typing")


_OP_FAMILIES = (
    *("cudnn", "miopen", "mkldnn", "fbgemm", "quantize", "fused_", "sym_", "from_file"),
    *("native_", "batch_norm_", "grid_sampler"),
)
"""Internal ops of torch's layers, which do not validate sizes."""
_NO_OPS = frozenset(
    "frombuffer asarray segment_reduce hash_tensor choose_qparams_optimized is_vulkan_available "
    "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine is_distributed "
    "sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_csc_tensor".split()
)
_TORCH = (
    "AcceleratorError BoolTensor ByteTensor DoubleTensor FloatTensor Generator HalfTensor "
    "IntTensor LongTensor OutOfMemoryError ShortTensor Size Tensor "
    "are_deterministic_algorithms_enabled autocast broadcast_shapes device dtype e enable_grad "
    "finfo get_default_device get_default_dtype get_float32_matmul_precision get_num_threads "
    "get_rng_state has_mkl iinfo inf inference_mode initial_seed is_anomaly_enabled "
    "is_autocast_enabled is_grad_enabled is_inference_mode_enabled is_tensor layout lobpcg lu "
    "manual_seed memory_format nan newaxis no_grad pca_lowrank pi seed set_default_device "
    "set_default_dtype set_float32_matmul_precision set_flush_denormal set_grad_enabled "
    "set_num_threads set_printoptions set_rng_state svd_lowrank "
    "typename unique unravel_index use_deterministic_algorithms vmap __version__"
)


def _torch() -> Mapping[str, object]:
    contents = dict(_of("torch", _TORCH)())
    for word in dir(torch._C._VariableFunctions):
        if word.startswith(("_", *_OP_FAMILIES)) or word in _NO_OPS or not hasattr(torch, word):
            continue
        contents[word] = getattr(torch, word)
    constants = (torch.dtype, torch.layout, torch.memory_format)
    contents |= {word: thing for word, thing in vars(torch).items() if isinstance(thing, constants)}
    changed = safe_variants.SPARSE | safe_variants.ARRAYS | safe_variants.legacy_tensor_types()
    return contents | changed | {"__version__": str(torch.__version__)}


def _numpy() -> Mapping[str, object]:
    out = (
        "DataSource bmat fromfile frombuffer from_dlpack fromregex genfromtxt get_include load "
        "loadtxt memmap save savetxt savez savez_compressed show_config show_runtime seterrcall "
        "geterrcall setbufsize info test recarray record require nested_iters getbufsize "
        "matrix asmatrix"
    )
    contents = dict(_all("numpy", out, lambda _: True)())
    names = "sctypeDict typecodes ScalarType"
    for word in names.split():
        contents.pop(word, None)
    return contents | {"__version__": str(np.__version__), "ndarray": safe_variants.SafeArray}


def _nn() -> Mapping[str, object]:
    kinds = (torch.nn.Module, torch.Tensor)
    out = "ParameterDict BufferDict DataParallel SyncBatchNorm Container"
    keep = _all("torch.nn", out, lambda t: isinstance(t, type) and issubclass(t, kinds))
    return {**keep(), **_of("torch.nn", "Buffer Parameter UninitializedParameter")()}


def _functional() -> Mapping[str, object]:
    out = "boolean_dispatch handle_torch_function assert_int_or_pair Callable Optional"
    contents = _all("torch.nn.functional", out, _is_function)()
    return {word: thing for word, thing in contents.items() if not word.startswith("has_torch")}


def _these(*kinds: type) -> Callable[[object], bool]:
    return lambda thing: isinstance(thing, type) and issubclass(thing, kinds)


def _distributions() -> Mapping[str, object]:
    from torch import distributions

    kinds = _these(distributions.Distribution, distributions.Transform)
    return _all("torch.distributions", "", kinds, "kl_divergence")()


def _schedules() -> Mapping[str, object]:
    from torch.optim.lr_scheduler import LRScheduler

    return {
        **_all("torch.optim.lr_scheduler", "", _these(LRScheduler))(),
        **safe_variants.safe_schedulers(),
    }


def _std(name: str, words: str, **changed: object) -> tuple[str, Maker]:
    return name, _of(name, words, changed)


_RANDOM = (
    "Random betavariate choice choices expovariate gammavariate gauss getrandbits getstate "
    "lognormvariate normalvariate paretovariate randbytes randint random randrange sample seed "
    "setstate shuffle triangular uniform vonmisesvariate weibullvariate"
)
_TYPING = (
    "AbstractSet Annotated Any AnyStr Callable ClassVar Collection Concatenate Container Counter "
    "DefaultDict Deque Dict Final FrozenSet Generator Generic Hashable Iterable Iterator List "
    "Literal LiteralString Mapping MutableMapping MutableSequence MutableSet NamedTuple Never "
    "NewType NoReturn Optional OrderedDict ParamSpec Protocol Reversible Self Sequence Set Sized "
    "SupportsFloat SupportsInt Text Tuple Type TypeAlias TypeGuard TypeVar Union TYPE_CHECKING "
    "cast final get_args get_origin overload override runtime_checkable"
)
_OPERATOR = (
    "abs add and_ concat contains countOf eq floordiv ge getitem gt iadd imul index indexOf inv "
    "invert is_ is_not isub itemgetter itruediv le lshift lt matmul mod mul ne neg not_ or_ pos "
    "pow rshift setitem sub truediv truth xor"
)
_NP_RANDOM_OUT = (
    "bit_generator mtrand test get_bit_generator set_bit_generator BitGenerator set_state MT19937 "
    "PCG64 PCG64DXSM Philox SFC64"
)
_CUDA = (
    "Event Stream current_device current_stream device_count empty_cache get_device_capability "
    "get_device_name is_available is_bf16_supported is_initialized manual_seed manual_seed_all "
    "max_memory_allocated max_memory_reserved memory_allocated memory_reserved "
    "reset_peak_memory_stats seed seed_all set_device stream synchronize"
)


MODULES: dict[str, Maker] = dict(
    [
        _std("abc", "ABC abstractmethod"),
        _std("bisect", "bisect bisect_left bisect_right insort insort_left insort_right"),
        ("cmath", _all("cmath", "", _is_math)),
        _std("collections", "ChainMap Counter OrderedDict defaultdict deque namedtuple"),
        ("collections.abc", _all("collections.abc", "Buffer", lambda t: isinstance(t, type))),
        _std("contextlib", "AbstractContextManager ExitStack contextmanager nullcontext suppress"),
        _std("copy", "copy", deepcopy=safe_variants.deepcopy),
        ("dataclasses", lambda: safe_variants.DATACLASSES),
        ("matplotlib", plots.package_names),
        ("matplotlib.pyplot", plots.pyplot_names),
        ("pylab", lambda: {**_numpy(), **plots.pyplot_names()}),
        *plot_modules.MODULES.items(),
        _std("datetime", "date datetime time timedelta timezone UTC MINYEAR MAXYEAR"),
        _std("decimal", "Decimal getcontext localcontext ROUND_HALF_UP ROUND_HALF_EVEN"),
        _std("fractions", "Fraction"),
        _std(
            "functools",
            "cache cmp_to_key lru_cache partial partialmethod reduce",
            **safe_variants.FUNCTOOLS,
        ),
        _std("heapq", "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
        ("itertools", _all("itertools")),
        _std("json", "dumps loads JSONDecodeError"),
        ("math", _all("math", "", _is_math)),
        _std("numbers", "Complex Integral Number Rational Real"),
        ("numpy", _numpy),
        ("numpy.fft", _all("numpy.fft", "test")),
        ("numpy.linalg", _all("numpy.linalg", "test")),
        ("numpy.random", _all("numpy.random", _NP_RANDOM_OUT)),
        _std("operator", _OPERATOR),
        _std("pprint", "pformat pprint"),
        _std("random", _RANDOM),
        _std("statistics", "fmean harmonic_mean mean median mode pstdev pvariance stdev variance"),
        _std(
            "string", "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation"
        ),
        _std(
            "sys",
            "byteorder float_info maxsize platform version version_info",
            exit=safe_variants.exit_program,
        ),
        _std("textwrap", "dedent fill indent shorten wrap"),
        _std(
            "time",
            "ctime gmtime localtime monotonic monotonic_ns perf_counter perf_counter_ns "
            "process_time process_time_ns sleep strftime time time_ns",
        ),
        ("torch", _torch),
        _std(
            "torch.accelerator",
            "current_accelerator current_device_index device_count is_available synchronize",
        ),
        _std("torch.amp", "GradScaler autocast custom_bwd custom_fwd is_autocast_available"),
        _std(
            "torch.autograd",
            "Function Variable backward detect_anomaly enable_grad grad gradcheck gradgradcheck "
            "inference_mode no_grad set_detect_anomaly set_grad_enabled",
        ),
        _std("torch.autograd.function", "Function once_differentiable"),
        _std("torch.autograd.functional", "hessian hvp jacobian jvp vhp vjp"),
        _std(
            "torch.autograd.graph",
            "Node allow_mutation_on_saved_tensors disable_saved_tensors_hooks get_gradient_edge "
            "increment_version register_multi_grad_hook save_on_cpu saved_tensors_hooks",
        ),
        ("torch.backends", lambda: safe_variants.BACKENDS),
        _std("torch.cuda", _CUDA),
        _std("torch.cuda.amp", "GradScaler autocast"),
        ("torch.distributions", _distributions),
        ("torch.fft", _all("torch.fft", "", _is_function)),
        _std(
            "torch.func",
            "functionalize grad grad_and_value hessian jacfwd jacrev jvp stack_module_state vjp "
            "vmap",
            functional_call=safe_variants.functional_call,
        ),
        ("torch.linalg", _all("torch.linalg")),
        ("torch.nn", _nn),
        ("torch.nn.functional", _functional),
        (
            "torch.nn.init",
            _all("torch.nn.init", "Callable Literal ParamSpec Tensor TypeVar", _is_function),
        ),
        _std("torch.nn.parameter", "Parameter Buffer"),
        _std(
            "torch.nn.utils",
            "clip_grad_norm_ clip_grad_value_ get_total_norm parameters_to_vector "
            "vector_to_parameters",
        ),
        _std(
            "torch.nn.utils.rnn",
            "PackedSequence pack_padded_sequence pack_sequence pad_packed_sequence pad_sequence "
            "unpack_sequence unpad_sequence",
        ),
        ("torch.optim", _all("torch.optim", "", lambda thing: isinstance(thing, type))),
        ("torch.optim.lr_scheduler", _schedules),
        _std(
            "torch.optim.swa_utils",
            "AveragedModel SWALR get_ema_avg_fn get_ema_multi_avg_fn get_swa_avg_fn "
            "get_swa_multi_avg_fn update_bn",
        ),
        _std("torch.random", "fork_rng get_rng_state initial_seed manual_seed seed set_rng_state"),
        ("torch.special", _all("torch.special", "Tensor", _is_function)),
        _std("torch.testing", "assert_close make_tensor"),
        _std("torch.utils", ""),
        _std("torch.utils.checkpoint", "checkpoint checkpoint_sequential"),
        _std(
            "torch.utils.data",
            "BatchSampler ChainDataset ConcatDataset Dataset IterableDataset RandomSampler Sampler "
            "SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset "
            "WeightedRandomSampler default_collate default_convert random_split",
            DataLoader=safe_variants.DataLoader,
        ),
        _std("typing", _TYPING),
        _std("warnings", "filterwarnings resetwarnings simplefilter warn"),
    ]
)
"""Every module that may be imported, and the factory of its contents."""
