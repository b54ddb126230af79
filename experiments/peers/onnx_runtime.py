"""Exact attention by ONNX Runtime, as an npm package: one node, MultiHeadAttention with one head, in float."""

import os
import subprocess
import tempfile

from onnx import TensorProto, helper, save

HERE = os.path.dirname(os.path.abspath(__file__))


def write_model(n, p, path):
    names = ("query", "key", "value")

    def shaped(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, n, p])

    node = helper.make_node("MultiHeadAttention", names, ["output"], domain="com.microsoft", num_heads=1)
    graph = helper.make_graph([node], "attention", [shaped(name) for name in names], [shaped("output")])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    save(helper.make_model(graph, opset_imports=domains, ir_version=8), path)


class OnnxRuntime:
    """A process of Node.js with the model, which times its calls itself: its pipe is not part of them."""

    def __init__(self, n, p, threads):
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "attention.onnx")
            write_model(n, p, model)
            self.process = subprocess.Popen(["node", os.path.join(HERE, "onnx_runtime.js"), model, str(n), str(p), str(threads)],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.seconds(0)  # the model has been read now

    def seconds(self, least):
        """Median of the calls of `least` seconds, after one to warm up."""
        print(least, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())
