"""A file with a line of JSON for every finished cell of an experiment, so that a run that was ended can go on."""
import json


def finished(path):
    """The cells of the file, none if there is no file. A last line that a killed run has left half written is cut off."""
    if not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return [json.loads(line) for line in whole.splitlines()]


def add(path, cell):
    with path.open("a") as file:
        file.write(json.dumps(cell) + "\n")
