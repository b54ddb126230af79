"""croquis report in a browser: nothing is loaded or refused, every picture is well-formed, and what can be toggled,
sorted and walked through does what it says. Skipped (77) where there is no chromium."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

import browser

PROGRAM = os.environ["CROQUIS_PROGRAM"]
HOSTILE = "</script><script>window.bad=1</script>\"'&]]>\u2028<img src=x onerror=window.bad=1>"
HEADER = ("input,method,preset,target,n,p,p_v,features,trial,seed,precision,spectral_abs,spectral_rel,frobenius_abs,"
          "frobenius_rel,max_abs,row_sum_dev,min_denominator,seconds,flops,status,layer,head\n")


def croquis(*arguments):
    subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.DEVNULL)


def write_heads(path):
    """Two layers with two heads, three methods, one of them with a hostile name, three d, two draws."""
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADER)
        for layer in range(2):
            for head in range(2):
                for m, method in enumerate(["v-mean", "skyformer-softmax", quoted]):
                    for d in (16, 32, 64):
                        for trial in (1, 2):
                            error = (m + 1) * (1 + layer + head) * trial / d
                            name = f"model:<b>;layer={layer};head={head}"
                            file.write(f"{name},{method},paper,softmax,64,8,8,{d},{trial},1,double,1,{error},1,{error},"
                                       f"1,0,1,0.01,{d * 1000 * (m + 1)},ok,{layer},{head}\n")


def write_zeros(path):
    """Five methods; one is exact at the larger d, one is above all axes at the smaller one."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADER)
        for method, errors in (("informer", (0.5, 0.1)), ("longformer", (0.2, 0)), ("performer", (1e200, 0.3)),
                               ("streaming", (0.4, 0.2)), ("linformer", (0.6, 0.3))):
            for d, error in zip((8, 16), errors):
                file.write(f"x,{method},paper,softmax,64,8,8,{d},1,1,double,{error},{error},{error},{error},1,0,1,0.01,"
                           f"{d * 1000},ok,NA,NA\n")


def write_many(path):
    """Nine methods, which have no bands, with draws that are far apart, and medians that are not."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADER)
        for m in range(9):
            for d in (8, 16):
                for trial, factor in ((1, 1e-3), (2, 1), (3, 1e3)):
                    error = (0.5 + 0.01 * m) * factor
                    file.write(f"y,nine-{m},paper,softmax,64,8,8,{d},{trial},1,double,{error},{error},{error},{error},"
                               f"1,0,1,0.01,{d * 1000},ok,NA,NA\n")


def write_choice(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("input,layer,head,eps,delta,confidence,metric,method,preset,features,cost,exact_cost,cost_ratio,"
                   "error_median,error_q95,failure_upper,draws,sequences,status,needed,open,evaluations,cost_unit,seed,"
                   "precision,target,flops_limit,head_count,rows\n"
                   "x,NA,NA,0.1,0.05,0.95,frobenius_rel,informer,paper,64,500,1000,0.5,0.07,0.08,0.04,96,1,chosen,NA,0,"
                   "435,flops,1,double,softmax,1,1,NA\n")


def write_costs(path):
    """Of one n: exact attention, which has flops and no d, and a method at two d; three calls each."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("input,method,preset,n,p,p_v,features,repeat,seed,precision,threads,seconds,peak_bytes,flops,status\n")
        for method, d, flops in (("exact", 0, 9000), ("skeinformer", 16, 1000), ("skeinformer", 64, 4000)):
            for repeat in (1, 2, 3):
                file.write(f"gaussian,{method},paper,1024,64,64,{d},{repeat},1,double,2,{repeat / 100},4096,{flops},ok\n")


def check_static(page):
    """What needs no browser: the hashes of the policy, and the pictures as XML."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    for tag in ("script", "style"):
        part = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy, tag
    pictures = re.findall(r"<svg\b.*?</svg>", page, re.S)
    assert len(pictures) > 3
    for picture in pictures:
        root = tree.fromstring(picture)
        if "plot" in root.get("class"):
            names = [child.tag.split("}")[1] for child in root]
            assert names[:2] == ["title", "desc"], names
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "https://" not in page


CHART = "document.querySelector('figure.chart')"


def choose(page, control, option):
    page.ask(f"""(() => {{ const s = {CHART}.querySelectorAll('select')[{control}]; s.value = {option};
                 s.dispatchEvent(new Event('change')); }})()""")


def check_live(page):
    marks = f"{CHART}.querySelectorAll('svg.plot .mark').length"
    label = f"[...{CHART}.querySelectorAll('svg.plot .label')].map((n) => n.textContent)"
    places = f"[...{CHART}.querySelectorAll('svg.plot .mark')].map((n) => n.getAttribute('transform'))"
    assert page.ask("window.bad") is None
    assert page.ask(marks) == 9
    # The script draws what the program drew.
    numbers = lambda list_: [float(x) for place in list_ for x in re.findall(r"[-\d.]+", place)]
    nine = "[...document.querySelectorAll('figure.chart')].find((f) => f.textContent.includes('nine-8'))"
    for chart in (CHART, nine):
        of_chart = places.replace(CHART, chart)
        before = numbers(page.ask(of_chart))
        page.ask(f"{chart}.plot.draw()")
        assert max(abs(a - b) for a, b in zip(before, numbers(page.ask(of_chart)))) < 0.11
    # Two of the nine have bands, for which the axis has room.
    heights = lambda: numbers(page.ask(places.replace(CHART, nine)))[1::2]
    assert max(heights()) - min(heights()) > 300
    for curve in range(7):
        page.ask(f"{nine}.querySelectorAll('.legend input')[{curve}].click()")
    assert max(heights()) - min(heights()) < 30
    # Curves.
    page.ask(f"{CHART}.querySelectorAll('.legend input')[2].click()")
    assert page.ask(marks) == 6
    page.ask(f"{CHART}.querySelectorAll('.legend input')[2].click()")
    assert page.ask(marks) == 9
    # Axes: views, vertical, its scale, horizontal, its scale.
    log_y = page.ask(f"[...{CHART}.querySelectorAll('.tics text')].map((n) => n.textContent).join()")
    choose(page, 2, 1)
    assert page.ask(f"[...{CHART}.querySelectorAll('.tics text')].map((n) => n.textContent).join()") != log_y
    choose(page, 3, 1)
    assert any("flops" in text for text in page.ask(label))
    choose(page, 0, 1)
    assert "mean over 4 heads" in page.ask(f"{CHART}.querySelector('.meaning').textContent")
    # What is zero is named where the axis is logarithmic, as the program names it; and what is too large anywhere.
    missing = """[...document.querySelectorAll('figure.chart')].map((f) => { f.plot.draw();
                 return f.querySelector('.missing').textContent; })"""
    written = "[...document.querySelectorAll('.missing')].map((n) => n.textContent)"
    before = page.ask(written)
    assert any("zero: longformer (features = 16)." in text for text in before), before
    assert any("beyond 1e150: performer (features = 8)." in text for text in before), before
    assert page.ask(missing)[1:] == before[1:]
    # A single point has a bar, of a curve whose other point has no place on the axis too.
    drawn = "document.querySelectorAll('.curve .bar').length + ' ' + document.querySelectorAll('.curve .band').length"
    before = page.ask(drawn)
    assert int(before.split()[0]) > 0, before
    page.ask("document.querySelectorAll('figure.chart').forEach((f) => f.plot.draw())")
    assert page.ask(drawn) == before, (before, page.ask(drawn))
    # Against costs eps is a line across, which is no point.
    line = "document.querySelector('.curve.unmarked')"
    path = f"{line}.querySelector('.line').getAttribute('d')"
    drawn = page.ask(path)
    assert re.fullmatch(r"M70\.0 ([\d.]+)L746\.0 \1", drawn), drawn
    assert page.ask(f"{line}.querySelector('.mark title').textContent") == "eps = 0.1: 0.1"
    # Exact attention, which has no d, is a line across against d, and one point with a bar against flops.
    chart = "[...document.querySelectorAll('figure.chart')].find((f) => f.textContent.includes('Cost of a call'))"
    shapes = f"""(() => {{ const c = [...{chart}.querySelectorAll('.curve')].find((g) => g.textContent.includes('exact'));
                  return ['.mark', '.bar', '.band'].map((s) => c.querySelectorAll(s).length).join(); }})()"""
    page.ask(f"{chart}.plot.draw()")
    assert page.ask(shapes) == "2,0,1", page.ask(shapes)
    page.ask(f"{chart}.plot.axis('x', 1)")
    assert page.ask(f"{chart}.plot.data.x[1].name") == "flops"
    assert page.ask(shapes) == "1,1,0", page.ask(shapes)
    # The keyboard.
    page.ask(f"{CHART}.querySelector('svg.plot').focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.press(key)
    said = f"{CHART}.querySelector('output').textContent"
    assert "skyformer-softmax" in page.ask(said)
    # What was said of a point is not left below a picture of another axis.
    choose(page, 1, 1)
    assert page.ask(said) == "", page.ask(said)
    assert page.ask("document.querySelector('.mark.chosen')") is None
    page.ask(f"{CHART}.querySelector('svg.plot').focus()")
    page.press("ArrowRight")
    assert page.ask(said) == page.ask(f"{CHART}.querySelector('svg.plot .mark.chosen title').textContent")
    assert page.ask(f"{CHART}.plot.drawn[0].marks[0].classList.contains('chosen')")
    # The buttons of a legend keep the focus of the keyboard.
    chart = "[...document.querySelectorAll('figure.chart')].find((f) => f.textContent.includes('linformer'))"
    curves = f"{chart}.querySelectorAll('svg.plot .curve').length"
    checked = f"{chart}.querySelectorAll('.legend :checked').length"
    drawn = page.ask(curves)
    assert drawn > 4
    for button, name, shown, left in ((1, "none", 0, 0), (0, "all", drawn, 5)):
        page.ask(f"{chart}.querySelectorAll('.legend button')[{button}].focus()")
        page.press("Enter")
        assert page.ask("document.activeElement.textContent") == name
        assert (page.ask(curves), page.ask(checked)) == (shown, left)
    # Sorting, by numbers and not by their texts.
    column = "[...document.querySelector('table.sortable').tBodies[0].rows].map((r) => Number(r.cells[2].dataset.v))"
    for order in (1, -1):
        page.ask("document.querySelectorAll('table.sortable thead th')[2].querySelector('button').click()")
        values = page.ask(column)
        assert len(values) == 9 and values == sorted(values, reverse=order < 0), values
    # Maps.
    cell = "document.querySelector('table.map td').textContent"
    assert page.ask("document.querySelectorAll('table.map').length") == 3
    first = page.ask(cell)
    page.ask("""(() => { const s = document.querySelector('figure.maps select'); s.value = 0;
                s.dispatchEvent(new Event('change')); })()""")
    assert float(page.ask(cell)) > float(first)
    # Nothing is wider than a telephone.
    page.screen(380)
    wide = """[...document.querySelectorAll('body *')].filter((e) => !e.parentElement.closest('.scroll') &&
              e.getBoundingClientRect().right > 380).map((e) => e.outerHTML.slice(0, 200))"""
    assert page.ask("document.documentElement.scrollWidth") <= 380, page.ask(wide)
    assert page.complaints == [], page.complaints


def main():
    if not browser.find():
        print("skipped: there is no chromium")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        heads, small, zeros, many, choice, costs, page = (
            os.path.join(folder, name)
            for name in ("heads.csv", "small.csv", "zeros.csv", "many.csv", "choice.csv", "costs.csv", "report.html"))
        write_heads(heads)
        write_zeros(zeros)
        write_many(many)
        write_choice(choice)
        write_costs(costs)
        croquis("error", "--n", "64", "--p", "8", "--methods", "v-mean,skyformer,nystromformer", "--features", "8,16",
                "--trials", "3", "--bounds", "--quiet", "--out", small)
        croquis("report", heads, small, zeros, choice, costs, many, "--out", page, "--title", HOSTILE)
        with open(page, encoding="utf-8", newline="") as file:
            check_static(file.read())
        with browser.Browser() as window:
            window.screen(1100)
            window.open(page)
            check_live(window)
    return 0


if __name__ == "__main__":
    sys.exit(main())
