"""Hints for errors of layers and losses, and for terse errors about shapes and dtypes."""

from gradscribe.engine.hints import advice, calls
from gradscribe.engine.hints.advice import HintRow

_ONE_TARGET = "One row of scores has one target; a batch of scores has the shape (batch, classes)."
ROWS = (
    HintRow(
        r"Found dtype (\w+) but expected (\w+)",
        "The target must be real numbers like the prediction: add .float() to it.",
        "Found dtype Long but expected Float",
    ),
    HintRow(
        r"result type (\w+) can't be cast to the desired output type (\w+)",
        "{2} cannot hold the result: convert the whole-number tensor with .float().",
        "result type Float can't be cast to the desired output type Long",
    ),
    HintRow(
        r"Input type \((.+)\) and (weight|bias) type \((.+)\) should be the same",
        "The input is {1}, the layer's {2} is {3}: bring the input to the layer, as with .to(...).",
        "Input type (double) and bias type (float) should be the same",
    ),
    HintRow(
        r"same dtype, but got: (\w+) != (\w+)",
        "One is {1}, the other {2}: convert one, for example with .float().",
        "expected m1 and m2 to have the same dtype, but got: float != double",
    ),
    HintRow(
        "only Tensors of floating point dtype can require",
        "Only real numbers have gradients: write 2.0 instead of 2, or dtype=torch.float32.",
        "only Tensors of floating point dtype can require gradients",
    ),
    HintRow(
        r"Target size \(.*\) must be the same as input size",
        "Prediction and target need one shape: .unsqueeze(1) or .squeeze(1) on one of them helps.",
        "Target size (torch.Size([3])) must be the same as input size (torch.Size([3, 1]))",
        ValueError,
    ),
    HintRow(
        "0D or 1D target tensor expected",
        "One class number per row is needed: .squeeze(1) a column, .argmax(1) a one-hot table.",
        "0D or 1D target tensor expected, multi-target not supported",
    ),
    HintRow(
        "For 1D input, 1D target must have size 1",
        _ONE_TARGET,
        "For 1D input, 1D target must have size 1, but got target size: 2",
        ValueError,
    ),
    HintRow(
        # torch 2.6
        r"size mismatch \(got input: \[\d+\], target: \[\d+\]\)",
        _ONE_TARGET,
        "size mismatch (got input: [3], target: [2])",
    ),
    HintRow(
        r"permute.*input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)",
        "permute names every dimension once: the tensor has {1}, and {2} are named.",
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length "
        "of the desired ordering of dimensions i.e. input.dim() = 2 is not equal to len(dims) = 3",
    ),
    HintRow(
        r"einsum\(\): subscript (\w) has size (\d+) for operand (\d+).* seen size (\d+)",
        "The letter {1} stands for one size: it is {4} before and {2} in operand {3}.",
        "einsum(): subscript j has size 4 for operand 1 which does not broadcast with previously "
        "seen size 3",
    ),
    HintRow(
        r"Given normalized_shape=\[(.+)\], expected input .*got input of size\s*\[(.+)\]",
        "The layer norm is made for a last dimension of {1}; the input is ({2}).",
        "Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[2, 4]",
    ),
    HintRow(
        r"running_mean should contain (\d+) elements not (\d+)",
        "The batch norm is made for {2} features and is given {1}.",
        "running_mean should contain 4 elements not 3",
    ),
    HintRow(
        r"output with shape \[(.*)\] doesn't match the broadcast shape \[(.*)\]",
        "In place a tensor keeps its shape ({1}); the result would be ({2}). Write x = x + y.",
        "output with shape [3] doesn't match the broadcast shape [2, 3]",
    ),
    HintRow(
        r"input_size\. Expected (\d+), got (\d+)",
        "The layer takes {1} features per step, the last dimension here is {2}.",
        "input.size(-1) must be equal to input_size. Expected 4, got 3",
    ),
    HintRow(
        r"inconsistent input_size: got (\d+) expected (\d+)",
        "The cell takes {2} features and is given {1}.",
        "input has inconsistent input_size: got 4 expected 3",
    ),
    HintRow(
        "negative dimension",
        "A size cannot be below 0.",
        "Trying to create tensor with negative dimension -1: [-1]",
    ),
    HintRow(
        "Cannot copy out of meta tensor",
        "A tensor on the meta device has a shape and no numbers: make it on cpu.",
        "Cannot copy out of meta tensor; no data!",
        NotImplementedError,
    ),
    HintRow(
        r"index -?\d+ is out of bounds for dimension \d+ with size (\d+)",
        advice.out_of_bounds,
        "index 3 is out of bounds for dimension 0 with size 2",
    ),
    HintRow(
        "Index tensor must have the same number of dimensions",
        "gather wants an index of as many dimensions as the input: .unsqueeze(1) adds one.",
        "Index tensor must have the same number of dimensions as input tensor",
    ),
    HintRow(
        "probability tensor contains either",
        "Probabilities are finite and not below 0: use softmax, and look for NaN before it.",
        "probability tensor contains either `inf`, `nan` or element < 0",
    ),
    HintRow(
        "embed_dim must be divisible by num_heads",
        "Each head gets an equal share: choose embed_dim as a multiple of num_heads.",
        "embed_dim must be divisible by num_heads",
        AssertionError,
    ),
    HintRow(
        r"Tensors must have same number of dimensions: got (\d+) and (\d+)",
        "One has {1} dimensions, the other {2}: .unsqueeze(0) adds one.",
        "Tensors must have same number of dimensions: got 1 and 2",
    ),
    HintRow(
        r"not supported between instances of 'torch\.return_types\.(\w+)'",
        "{1} over a dimension gives values and indices: take .values or .indices.",
        "'>' not supported between instances of 'torch.return_types.max' and 'int'",
        TypeError,
    ),
    HintRow(
        r"expected np\.ndarray \(got (\w+)\)",
        "from_numpy takes a NumPy array; torch.tensor(...) takes a {1}.",
        "expected np.ndarray (got list)",
        TypeError,
    ),
    HintRow(
        r"(len\(\) of|iteration over) a 0-d tensor",
        "A tensor without dimensions is one number: .item() gives it, .unsqueeze(0) a list of one.",
        "iteration over a 0-d tensor",
        TypeError,
    ),
    HintRow(
        r"Expected target size \[(\d+), (\d+)\], got \[(\d+), (\d+)\]",
        "Scores are (batch, classes, positions): .transpose(1, 2) on them brings the classes to "
        "dimension 1.",
        "Expected target size [2, 5], got [2, 7]",
    ),
    HintRow(
        r"(Subtraction|Negation).*two bool|Subtraction, the .* bool tensor",
        "True and False are no numbers: add .float() or .int() to count with them.",
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead.",
    ),
    HintRow(
        r"(gather|scatter|index_add|index_select)\w*\(\): Expected dtype int",
        "Indices are whole numbers: add .long().",
        "gather(): Expected dtype int32/int64 for index",
    ),
    HintRow(
        "only one element tensors can be converted to Python scalars",
        calls.one_element,
        "only one element tensors can be converted to Python scalars",
        ValueError,
    ),
    HintRow(
        r"can only concatenate (list|tuple) \(not \"Tensor\"\)",
        "A {1} is joined with a {1}: make a tensor of it with torch.tensor(...) to add numbers.",
        'can only concatenate list (not "Tensor") to list',
        TypeError,
    ),
    HintRow(
        r"3D or 4D \(batch mode\) tensor expected",
        "Pooling takes pictures of (batch, channel, height, width), or one without the batch.",
        "non-empty 3D or 4D (batch mode) tensor expected for input",
    ),
    HintRow(
        r"split_sizes to sum exactly to (\d+)",
        "The sizes must add up to {1}; split(2) makes pieces of 2 and a smaller last one.",
        "split_with_sizes expects split_sizes to sum exactly to 5 (input tensor's size at "
        "dimension 0), but got split_sizes=[2, 2]",
    ),
    HintRow(
        "only integer tensors of a single element can be converted to an index",
        "A whole number is needed here: take it out with int(x).",
        "only integer tensors of a single element can be converted to an index",
        TypeError,
    ),
    HintRow(
        r"Subclasses of Dataset should implement (\w+)",
        "Give the class a method {1}(self, index) that returns one example.",
        "Subclasses of Dataset should implement __getitem__.",
        NotImplementedError,
    ),
    HintRow(
        "'(type|function)' object does not support the context manager protocol",
        "Call it, with parentheses: with torch.no_grad().",
        "'type' object does not support the context manager protocol",
        TypeError,
    ),
    HintRow(
        # Python 3.10
        "^__enter__$",
        "Call it, with parentheses: with torch.no_grad().",
        "__enter__",
        AttributeError,
    ),
    HintRow(
        r"1D tensors expected, but got (\d)D and (\d)D",
        "dot is for two vectors: for matrices write a @ b.",
        "1D tensors expected, but got 2D and 2D tensors",
    ),
    HintRow(
        r"(stack|cat)\(\)(?:: .*must be tuple of Tensors, not Tensor"
        # torch 2.6
        r"| received an invalid combination of arguments - got \(Tensor,)",
        "The tensors go into one list: torch.{1}([a, b]).",
        "stack(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor",
        TypeError,
    ),
    HintRow(
        "one_hot is only applicable to index",
        "Classes are whole numbers: add .long().",
        "one_hot is only applicable to index tensor of type LongTensor.",
    ),
    HintRow(
        "Class values must be smaller than num_classes",
        "With n classes the numbers go from 0 to n − 1: raise num_classes, or look at the labels.",
        "Class values must be smaller than num_classes.",
    ),
)
