"""Hints for errors of shapes, dtypes, devices, indices, layers and losses."""

from gradscribe.engine.hints import advice, calls, shapes
from gradscribe.engine.hints.advice import HintRow
from gradscribe.engine.hints.loops import last_batch

_TARGETS = "Class targets are whole numbers: make them with dtype=torch.long, or add .long()."
_DTYPES = "Both need the same dtype: convert one, for example with .float()."
_DEVICES = "Bring everything to one device, for example with .to(device)."
_ONE_ELEMENT = "Only one element becomes a number: use .sum(), .mean(), or pick one."
_NO_DEVICE = "This engine has no such device. Choose cpu, or one that the device menu lists."
_SAME_SHAPE = "Prediction and target need one shape: .view(-1), .unsqueeze(1) or .squeeze(1) helps."

ROWS = (
    HintRow(
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        shapes.matmul,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x2)",
    ),
    HintRow(
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton "
        r"dimension (\d+)",
        shapes.size_mismatch,
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    HintRow(
        r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
        "Only a size of 1 stretches; here {2} would have to become {1}.",
        "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
        "dimension 1.",
    ),
    HintRow(
        r"shape '\[(.*)\]' is invalid for input of size (\d+)",
        advice.invalid_view,
        "shape '[4, -1]' is invalid for input of size 6",
    ),
    HintRow(
        "view size is not compatible",
        "The tensor is not contiguous: use .reshape(...), or .contiguous() first.",
        "view size is not compatible with input tensor's size and stride",
    ),
    HintRow(
        r"size mismatch, got input \((\d+)\), mat \((\d+)x(\d+)\), vec \((\d+)\)",
        shapes.matvec,
        "size mismatch, got input (2), mat (2x3), vec (2)",
    ),
    HintRow(
        "inconsistent tensor size",
        "Both vectors need equally many elements.",
        "inconsistent tensor size, expected tensor [2] and src [3] to have the same number",
    ),
    HintRow(
        "must be a 3D tensor|must be 3D",
        "bmm takes batches of matrices (batch × n × k); @ works for matrices.",
        "batch1 must be a 3D tensor",
    ),
    HintRow(
        "Sizes of tensors must match except in dimension|stack expects each tensor to be equal",
        shapes.wrong_concatenation,
        "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2",
    ),
    HintRow(
        r"expected input\[(.*)\] to have (\d+) channels, but got (\d+) channels",
        shapes.channels,
        "expected input[1, 1, 8, 8] to have 3 channels, but got 1 channels instead",
    ),
    HintRow(
        r"Kernel size can't be greater than actual input",
        "The picture is smaller than the kernel by now: use padding, or fewer layers.",
        "Kernel size can't be greater than actual input size",
    ),
    HintRow(
        r"Expected (2D|3D|4D|5D|\dD).*got|expected input to be \dD",
        "The input has the wrong number of dimensions; unsqueeze(0) adds a batch of one.",
        "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [3, 3]",
        Exception,
    ),
    HintRow(
        "target size .* different to the input size",
        _SAME_SHAPE,
        "Using a target size (torch.Size([2])) that is different to the input size",
        ValueError,
    ),
    HintRow(
        r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
        "{1} predictions and {2} targets: one target each is needed.",
        "Expected input batch_size (2) to match target batch_size (3).",
        ValueError,
    ),
    HintRow(
        "Expected more than 1 value per channel",
        last_batch,
        "Expected more than 1 value per channel when training, got input size [1, 3]",
        ValueError,
    ),
    HintRow(
        "expected sequence of length",
        "The rows of a tensor need equally many elements.",
        "expected sequence of length 2 at dim 1 (got 1)",
        ValueError,
    ),
    HintRow(
        r"elements? cannot be converted to Scalar|only one element tensors can be converted",
        _ONE_ELEMENT,
        "a Tensor with 2 elements cannot be converted to Scalar",
        Exception,
    ),
    HintRow(
        "Boolean value of Tensor with more than one value",
        "A condition needs one True or False: add .any() or .all(). A loss is made first, then "
        "called: nn.MSELoss()(y, t).",
        "Boolean value of Tensor with more than one value is ambiguous",
    ),
    # Indices
    HintRow(
        r"Target (-?\d+) is out of bounds",
        "There is no class {1}: with n outputs, targets go from 0 to n − 1.",
        "Target 7 is out of bounds.",
        IndexError,
    ),
    HintRow(
        r"index -?\d+ is out of bounds for dimension \d+ with size (\d+)",
        advice.out_of_bounds,
        "index 5 is out of bounds for dimension 0 with size 3",
        IndexError,
    ),
    HintRow(
        r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\]",
        "This tensor's dimensions are {1} to {2}.",
        "Dimension out of range (expected to be in range of [-2, 1], but got 5)",
        IndexError,
    ),
    HintRow(
        r"too many indices for tensor of dimension (\d+)",
        "The tensor has {1} dimensions: give at most as many indices.",
        "too many indices for tensor of dimension 1",
        IndexError,
    ),
    HintRow(
        "shape of the mask",
        "A mask needs the shape of what it picks from.",
        "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [2]",
        IndexError,
    ),
    HintRow(
        "used as indices must be|are valid indices",
        "Indices are whole numbers (.long()) or a mask of True and False.",
        "tensors used as indices must be long, int, byte or bool tensors",
        IndexError,
    ),
    # Dtypes and devices
    HintRow(
        "expected target dtype to be Long|expected scalar type Long",
        _TARGETS,
        "expected target dtype to be Long or Byte, but got Float",
    ),
    HintRow(
        "Expected tensor for argument #1 'indices'",
        "Indices are whole numbers: add .long().",
        "Expected tensor for argument #1 'indices' to have one of the following scalar types",
    ),
    HintRow(
        r"same dtype, but (?:got|found) \w+(?:,| and) |expected scalar type \w+ but found \w+",
        _DTYPES,
        "mat1 and mat2 must have the same dtype, but got Double and Float",
    ),
    HintRow(
        r"could not infer output dtype|not implemented for '(Long|Int|Short|Byte|Char|Bool)'",
        "This works on real numbers only: add .float(), or write 2.0 instead of 2.",
        "mean(): could not infer output dtype.",
        Exception,
    ),
    HintRow(
        r"new\(\): invalid data type '(\w+)'",
        "Tensors hold numbers, not {1}.",
        "new(): invalid data type 'str'",
        TypeError,
    ),
    HintRow(
        "Expected all tensors to be on the same device|is not on the expected device",
        _DEVICES,
        "Expected all tensors to be on the same device, but found at least two devices",
    ),
    HintRow(
        "Torch not compiled with CUDA|No CUDA GPUs|Found no NVIDIA|Invalid device string|"
        "at start of device string|from the '(MPS|CUDA|XPU)' backend|CUDA error: invalid device",
        _NO_DEVICE,
        "Torch not compiled with CUDA enabled",
        Exception,
    ),
    HintRow(
        "CUDA error: device-side assert",
        "An index, a class or a probability is out of bounds. On the CPU torch says which it is.",
        "CUDA error: device-side assert triggered",
    ),
    HintRow(
        "CUDA error: (an illegal|misaligned|unspecified|uncorrectable|an illegal instruction)",
        "Compiled code read or wrote where it may not, on this line or on one before it.",
        "CUDA error: an illegal memory access was encountered",
    ),
    # Memory
    HintRow(
        r"allocate memory: you tried to allocate (\d+) bytes",
        advice.too_large,
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 40000000000000 bytes.",
    ),
    HintRow(
        "out of memory|Storage size calculation overflowed|invalid for a tensor.*too large",
        "More memory than there is. Make a size smaller.",
        "CUDA out of memory. Tried to allocate 2.00 GiB",
    ),
    # Layers, losses, optimizers
    HintRow(
        "all elements of (input|target) should be between 0 and 1",
        "Put a sigmoid before it, or use binary_cross_entropy_with_logits.",
        "all elements of input should be between 0 and 1",
    ),
    HintRow(
        "'(.+)' object is not iterable",
        calls.not_iterable,
        "'Linear' object is not iterable",
        TypeError,
    ),
    HintRow(
        "can't optimize a non-leaf",
        "An optimizer takes leaves: a parameter as it was made, not something computed from it.",
        "can't optimize a non-leaf Tensor",
        ValueError,
    ),
    HintRow(
        "Invalid learning rate",
        "The rate must be 0 or more.",
        "Invalid learning rate: -1",
        ValueError,
    ),
    HintRow(
        "singular|not positive-definite",
        "This matrix has no inverse or factor: adding a little to its diagonal may help.",
        "linalg.inv: the inversion could not be completed because the input matrix is singular.",
    ),
    HintRow(
        r"argument 'input' .*must be Tensor, not tuple",
        "It is given a tuple: recurrent layers and attention return their output and a state, so "
        "take them apart: output, state = rnn(x).",
        "linear(): argument 'input' (position 1) must be Tensor, not tuple",
        TypeError,
    ),
    HintRow(
        r"expand\(.*\{\[([\d, ]*)\]\}, size=\[([\d, ]*)\]\): the number of sizes",
        shapes.wrong_assignment,
        "expand(torch.FloatTensor{[2]}, size=[]): the number of sizes provided (0) must be greater",
    ),
    HintRow(
        "Size mismatch between tensors",
        "All tensors of a TensorDataset need the same length: one row for each example.",
        "Size mismatch between tensors",
        AssertionError,
    ),
    HintRow(
        r"(\w+)\(\): argument '(\w+)' .*must be (.+), not (.+)",
        "{2} must be {3}; here it is {4}.",
        "linear(): argument 'input' (position 1) must be Tensor, not int",
        TypeError,
    ),
    HintRow(
        r"(\w+)\(\) received an invalid combination of arguments",
        calls.no_overload,
        "add() received an invalid combination of arguments - got (Tensor)",
        TypeError,
    ),
)
