"""onnxruntime's GroupQueryAttention; past and present are one buffer, the last token comes as a new one."""

import numpy as np

NAME = "onnxruntime GQA"
DTYPES = ("float32", "float16")
PAGED = False


def model(cell):
    from onnx import TensorProto, helper

    float_type = helper.np_dtype_to_tensor_dtype(np.dtype(cell.dtype))
    cache = [1, cell.kv_heads, cell.tokens, cell.head_dim]
    shapes = {
        "query": [1, 1, cell.query_heads * cell.head_dim],
        "key": [1, 1, cell.kv_heads * cell.head_dim],
        "value": [1, 1, cell.kv_heads * cell.head_dim],
        "past_key": cache,
        "past_value": cache,
    }
    inputs = [helper.make_tensor_value_info(name, float_type, shape) for name, shape in shapes.items()]
    inputs += [helper.make_tensor_value_info(name, TensorProto.INT32, [1]) for name in ("last", "total")]
    outputs = {"out": shapes["query"], "present_key": cache, "present_value": cache}
    node = helper.make_node(
        "GroupQueryAttention",
        [value.name for value in inputs],
        list(outputs),
        domain="com.microsoft",
        num_heads=cell.query_heads,
        kv_num_heads=cell.kv_heads,
        scale=cell.scale,
    )
    infos = [helper.make_tensor_value_info(name, float_type, shape) for name, shape in outputs.items()]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], "attention", inputs, infos)
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def prepare(problem, threads):
    import onnxruntime

    cell = problem.cell
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model(cell), options, ["CPUExecutionProvider"])
    value = onnxruntime.OrtValue.ortvalue_from_numpy
    cache = [array[None].copy() for array in problem.contiguous]
    binding = session.io_binding()
    out = value(np.empty((1, 1, cell.query_heads * cell.head_dim), cell.dtype))
    binding.bind_ortvalue_input("query", value(problem.queries.reshape(1, 1, -1)))
    for name, array in zip(("key", "value"), cache, strict=True):
        held = value(array)
        binding.bind_ortvalue_input(name, value(np.ascontiguousarray(array[:, :, -1]).reshape(1, 1, -1)))
        binding.bind_ortvalue_input(f"past_{name}", held)
        binding.bind_ortvalue_output(f"present_{name}", held)
    binding.bind_ortvalue_input("last", value(np.array([cell.tokens - 1], np.int32)))
    binding.bind_ortvalue_input("total", value(np.array([cell.tokens], np.int32)))
    binding.bind_ortvalue_output("out", out)

    def run(_):
        session.run_with_iobinding(binding)
        return out

    return run
