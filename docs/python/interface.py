"""Writes interface.md beside it again, from the docstrings of the package:

PYTHONPATH=build/release/python python3 docs/python/interface.py
"""

import ast
import dataclasses
import inspect
import pathlib
import re
import sys
import textwrap
import types

import croquis

PAGE = pathlib.Path(__file__).with_name("interface.md")

HEAD = """# Python: the interface

What is in `import croquis`, function by function? This page is made from the docstrings, which `help(croquis.exact)`
shows as well; a test compares them and runs every example. The [tutorial](README.md) shows how they are used together.

A head is three arrays of tokens × width: queries Q (n_q, p), keys K (n_k, p) and values V (n_k, p_v), of float32 or
float64. A result of `-> Rows` has the columns of the program's CSV files, which [results](../results.md) explains.
"""

SECTIONS = {
    "Attention": ["exact", "approximate", "vjp"],
    "Measurements": ["error", "gradient", "cost", "spectrum", "dimension", "verify"],
    "Choices": ["choose", "read_choices", "method_arguments"],
    "Sketches": ["sketch", "Sketch"],
    "Results": ["Rows", "columns", "Column"],
    "What there is": ["methods", "Method", "Option", "sketches", "SketchDistribution", "claims", "Claim"],
    "Threads": ["set_threads", "threads"],
}


def body(doc):
    """Markdown of a docstring in NumPy's style."""
    lines, out, i, section = doc.splitlines(), [], 0, None
    while i < len(lines):
        line = lines[i]
        if i + 1 < len(lines) and re.fullmatch("-{3,}", lines[i + 1].strip()):
            section = line.strip()
            out += [f"**{section}**", ""]
            i += 2
            continue
        if line.startswith(">>>"):
            out += ["```pycon"]
            while i < len(lines) and lines[i].strip():
                out.append(lines[i])
                i += 1
            out += ["```"]
            continue
        if section and line.strip() and not line.startswith(" ") and is_item(lines, i):
            text = []
            i += 1
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                if not lines[i].strip():
                    break
                text.append(lines[i].strip())
                i += 1
            name, _, kind = line.partition(" : ")
            out += [f"- `{name}`" + (f" ({marked(kind)}):" if kind else ":"), *(f"  {marked(t)}" for t in text)]
            continue
        if line.strip() and not line.startswith(" "):
            section = None if out and not out[-1].strip() and section == "Returns" else section
        out.append(marked(line))
        i += 1
    return "\n".join(out)


def is_item(lines, i):
    return i + 1 < len(lines) and lines[i + 1].startswith("    ") or " : " in lines[i]


def marked(text):
    """Markdown of a line: what is between backticks is shown as it is."""
    parts = re.sub("``([^`]+)``", r"`\1`", text).split("`")
    return "`".join(part if i % 2 else re.sub(r"[*|]", r"\\\g<0>", part) for i, part in enumerate(parts))


def signature(name, thing, leave_out=()):
    """name(Q, K, V, target="softmax", *, bias=None), in lines of one page's width."""
    parts, bare = [], False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name in leave_out:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not bare:
            parts, bare = parts + ["*"], True
        stars = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else "=" + repr(parameter.default).replace("'", '"')
        parts.append(stars + parameter.name + default)
    return textwrap.fill(f"{name}({', '.join(parts)})", 100, subsequent_indent=" " * (len(name) + 1))


def section(name, thing, prefix="croquis."):
    out = [f"### {prefix}{name}", ""]
    doc = inspect.cleandoc(thing.__doc__)
    if dataclasses.is_dataclass(thing):
        fields = ", ".join(f"`{field.name}`" for field in dataclasses.fields(thing))
        return out + [body(doc), "", f"Members: {fields}.", ""]
    if inspect.isclass(thing):
        out += [body(doc), ""]
        for member, value in vars(thing).items():
            plain = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if member.startswith("_") or not isinstance(plain, types.FunctionType):
                continue
            shown = member if isinstance(value, property) else signature(member, plain, ("self", "cls"))
            out += [f"- `{shown}`: {marked(' '.join(plain.__doc__.split()))}"]
        return out + [""]
    return out + ["```text", signature(name, thing), "```", "", body(doc), ""]


class Untyped(ast.NodeTransformer):
    """Leaves out the types of arguments."""

    def visit_arg(self, node):
        return ast.arg(node.arg)


def page():
    out = [HEAD]
    listed = [name for names in SECTIONS.values() for name in names]
    missing = sorted(set(croquis.__all__) - set(listed) - {"__version__"})
    assert not missing, missing
    for title, names in SECTIONS.items():
        out += [f"## {title}", ""]
        for name in names:
            out += section(name, getattr(croquis, name))
    out += ["## PyTorch", ""]
    # Read, not imported: the page is the same where there is no PyTorch.
    module = ast.parse(pathlib.Path(croquis.__file__).with_name("torch.py").read_text())
    for name in ("attention", "packed_attention"):
        function = next(node for node in module.body if getattr(node, "name", "") == name)
        arguments = ast.unparse(ast.fix_missing_locations(Untyped().visit(function.args))).replace("'", '"')
        shown = textwrap.fill(f"{name}({arguments})", 100, subsequent_indent=" " * (len(name) + 1))
        out += [f"### croquis.torch.{name}", "", "```text", shown, "```", "", body(ast.get_docstring(function)), ""]
    text = "\n".join(out)
    return re.sub("\n{3,}", "\n\n", text).rstrip() + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if PAGE.read_text() == page() else "interface.md: not that of the docstrings; run interface.py")
    PAGE.write_text(page())
