// A chart that is drawn again when something is toggled, as the program has drawn it first (chart_svg.cpp).
class Plot {
  constructor(figure) {
    this.figure = figure;
    this.svg = figure.querySelector('svg.plot');
    this.out = figure.querySelector('output.point');
    this.data = JSON.parse(figure.querySelector('script').textContent);
    this.state = {view: 0, x: 0, y: 0, logX: this.data.x[0].log, logY: this.data.y[0].log, hidden: new Set()};
    this.at = {curve: -1, point: 0};
    this.controls();
    this.legend();
    this.keys();
    if (this.svg.parentElement.clientWidth < 600) this.draw();
    let width = window.innerWidth;
    window.addEventListener('resize', () => {
      if (Math.abs(window.innerWidth - width) < 20) return;
      width = window.innerWidth;
      this.draw();
    });
  }
  set(change) {
    Object.assign(this.state, change);
    this.draw();
  }
  controls() {
    const {data} = this, box = this.figure.querySelector('.controls');
    const scale = ['logarithmic', 'linear'];
    if (data.views.length > 1) {
      box.append(choice('Show', data.views.map((v) => v.name), (i) => {
        this.state.view = i;
        this.legend();
        this.draw();
        this.figure.querySelector('.meaning').textContent = data.views[i].meaning;
      }));
    }
    if (data.y.length > 1) {
      box.append(choice('Vertical', data.y.map((a) => a.label), (i) => this.axis('y', i)));
    }
    this.scaleY = choice('Its scale', scale, (i) => this.set({logY: i === 0}));
    box.append(this.scaleY);
    if (data.x.length > 1) box.append(choice('Horizontal', data.x.map((a) => a.label), (i) => this.axis('x', i)));
    this.scaleX = choice(data.x.length > 1 ? 'Its scale' : 'Horizontal scale', scale, (i) => this.set({logX: i === 0}));
    this.scaleY.querySelector('select').setAttribute('aria-label', 'scale of the vertical axis');
    this.scaleX.querySelector('select').setAttribute('aria-label', 'scale of the horizontal axis');
    box.append(this.scaleX);
    this.scaleX.querySelector('select').value = this.state.logX ? 0 : 1;
    this.scaleY.querySelector('select').value = this.state.logY ? 0 : 1;
    box.hidden = false;
  }
  axis(which, i) {
    const log = this.data[which][i].log, upper = which.toUpperCase();
    this['scale' + upper].querySelector('select').value = log ? 0 : 1;
    this.set({[which]: i, ['log' + upper]: log});
    this.legend();
  }
  view() { return this.data.views[this.state.view]; }
  legend() {
    const list = this.figure.querySelector('.legend');
    list.textContent = '';
    let target = '';
    for (const curve of this.view().curves) {
      if (curve.target !== '' && curve.target !== target) {
        target = curve.target;
        list.append(element('li', {class: 'target'}, target));
      }
      const item = element('li'), box = element('label'), input = element('input', {type: 'checkbox'});
      input.checked = !this.state.hidden.has(curve.label);
      input.addEventListener('change', () => {
        if (input.checked) this.state.hidden.delete(curve.label);
        else this.state.hidden.add(curve.label);
        this.draw();
      });
      const swatch = make('svg', {class: 'swatch', viewBox: '0 0 32 12', width: 32, height: 12, 'aria-hidden': 'true'});
      const group = make('g', {class: 'curve ' + curve.style + (curve.open ? ' open' : '')});
      if (curve.joined) group.append(make('path', {class: 'line', d: 'M1 6H31'}));
      if (!this.isAcross(curve)) group.append(make('path', {class: 'mark', transform: 'translate(16 6)', d: curve.marker}));
      swatch.append(group);
      box.append(input, swatch, element('span', {}, curve.label));
      item.append(box);
      list.append(item);
    }
    if (this.view().curves.length > 4) {
      const item = element('li'), all = element('button', {type: 'button'}, 'all'), none = element('button', {type: 'button'}, 'none');
      // The legend stays as it is, with the button in it that has the focus of the keyboard.
      const show = (shown) => {
        for (const input of list.querySelectorAll('input')) input.checked = shown;
        this.draw();
      };
      all.addEventListener('click', () => {
        this.state.hidden.clear();
        show(true);
      });
      none.addEventListener('click', () => {
        for (const curve of this.view().curves) this.state.hidden.add(curve.label);
        show(false);
      });
      item.append(all, ' ', none);
      list.append(item);
    }
  }
  // A line across the picture, whose points have no place of their own.
  isAcross(curve) { return curve.across.includes(this.state.x); }
  // The curves that are drawn, with the numbers of the chosen axes; points without them are left out.
  curves() {
    const {x, y, hidden} = this.state;
    return this.view().curves.filter((curve) => !hidden.has(curve.label)).map((curve) => ({
      curve,
      points: this.once(curve, curve.points.map(([xs, ys]) => ({x: xs[x], v: ys[y]})))
        .filter((p) => p.v !== null && p.x !== null),
    }));
  }
  // A line across has its one point at both ends of the picture; on the axes where it has a place that is one point.
  once(curve, points) {
    const isPoint = curve.across.length > 0 && !this.isAcross(curve);
    return isPoint ? points.filter((p, i) => points.findIndex((first) => first.x === p.x) === i) : points;
  }
  // What of these curves has no place on the vertical axis, as missing_on_axis of the program. What is infinite is null.
  missing(curves, {log}) {
    const numbers = curves.map(({curve, points}) =>
      ({curve, points: points.map((p) => ({x: p.x, at: p.v[0] === null ? Infinity : p.v[0]}))}));
    const name = this.data.x[this.state.x].name, sentences = [];
    const add = (what, isMissing) => {
      const list = numbers.map(({curve, points}) => ({curve, points: points.filter((p) => isMissing(p.at))}))
        .filter(({points}) => points.length > 0);
      if (list.length === 0) return;
      sentences.push('Not on this ' + (log ? 'logarithmic ' : '') + 'axis, ' + what + ': ' + list.map(({curve, points}) =>
        curve.label + (this.isAcross(curve) ? '' : ' (' + name + ' = ' + points.map((p) => shown(p.x)).join(', ') + ')'))
        .join(', ') + '.');
    };
    const below = numbers.some(({points}) => points.some((p) => p.at < 0));
    add(below ? 'zero or below' : 'zero', (at) => log && at <= 0);
    add('below 1e-150', (at) => log && at > 0 && at < 1e-150);
    add('beyond 1e150', (at) => (log ? at : Math.abs(at)) > 1e150);
    return sentences.join(' ');
  }
  text(curve, point) {
    const [at, lo, hi, bound, heavy, note] = point.v;
    const place = this.isAcross(curve) ? '' : ', ' + this.data.x[this.state.x].name + ' = ' + shown(point.x);
    let text = curve.label + place + ': ' + shown(at);
    if (lo !== null && hi !== null && lo < hi) text += ' (' + shown(lo) + ' – ' + shown(hi) + ')';
    if (heavy) text += ' *';
    if (note) text += ' ' + note;
    if (bound !== null && bound !== undefined) text += '; guaranteed ' + shown(bound);
    return text;
  }
  draw() {
    const wide = Math.max(320, Math.min(900, this.svg.parentElement.clientWidth || 760));
    const W = wide < 600 ? wide : 760, H = W < 600 ? 340 : 430, L = W < 600 ? 56 : 70, R = 14, T = 12, B = 52;
    const curves = this.curves(), many = curves.length > 8, xs = [], ys = [], bounds = [];
    for (const {points} of curves) {
      for (const {x, v} of points) {
        xs.push(x);
        ys.push(v[0]);
        if (!many) ys.push(v[1], v[2]);
        if (v[3] > 0) bounds.push(v[3]);
      }
    }
    const largest = ys.reduce((a, b) => (b !== null && b > a ? b : a), 0);
    for (const bound of bounds) ys.push(Math.min(bound, 30 * largest));
    const sx = new Scale(xs, this.state.logX), sy = new Scale(ys, this.state.logY);
    const px = (x) => L + sx.place(x) * (W - L - R), py = (y) => H - B - sy.place(y) * (H - T - B);
    const kept = [...this.svg.children].filter((n) => n.tagName === 'title' || n.tagName === 'desc');
    this.svg.textContent = '';
    this.svg.append(...kept);
    kept[1].textContent = this.data.y[this.state.y].label + ' against ' + this.data.x[this.state.x].label + ', ' +
      curves.map((c) => c.curve.label).join(', ') + '. ' + this.view().meaning + '.';
    this.svg.setAttribute('viewBox', '0 0 ' + W + ' ' + H);
    const clip = make('clipPath', {id: this.figure.id + '-clip'});
    clip.append(make('rect', {x: L - 6, y: T - 6, width: W - L - R + 12, height: H - T - B + 12}));
    const grid = make('g', {class: 'grid'}), tics = make('g', {class: 'tics', 'aria-hidden': 'true'});
    let free = -1e9;
    for (const x of sx.tics()) {
      grid.append(make('path', {d: 'M' + px(x) + ' ' + T + 'V' + (H - B)}));
      if (px(x) - free < 34) continue;
      free = px(x);
      tics.append(make('text', {x: px(x), y: H - B + 18, 'text-anchor': 'middle'}, label(x)));
    }
    for (const y of sy.tics()) {
      grid.append(make('path', {d: 'M' + L + ' ' + py(y) + 'H' + (W - R)}));
      tics.append(make('text', {x: L - 8, y: py(y) + 4, 'text-anchor': 'end'}, label(y)));
    }
    tics.append(make('text', {class: 'label', x: (L + W - R) / 2, y: H - 10, 'text-anchor': 'middle'},
                     this.data.x[this.state.x].label));
    tics.append(make('text', {class: 'label', transform: 'translate(14 ' + (T + H - B) / 2 + ') rotate(-90)',
                              'text-anchor': 'middle'}, this.data.y[this.state.y].label));
    const all = make('g', {'clip-path': 'url(#' + this.figure.id + '-clip)'});
    this.drawn = [];
    for (const {curve, points} of curves) {
      const across = this.isAcross(curve);
      const there = points.filter((p) => sx.shows(p.x) && sy.shows(p.v[0])).sort((a, b) => a.x - b.x);
      if (there.length === 0) continue;
      const at = (p) => (!across ? px(p.x) : p === there[0] ? L : W - R);
      const unmarked = across || (curve.joined && there.length > 40) ? ' unmarked' : '';
      const group = make('g', {class: 'curve ' + curve.style + (curve.open ? ' open' : '') + unmarked});
      const end = (p, i) => (sy.shows(p.v[i]) ? py(p.v[i]) : py(p.v[0]));
      const path = (list) => 'M' + list.map(([x, y]) => x.toFixed(1) + ' ' + y.toFixed(1)).join('L');
      if (curve.joined) {
        const upper = there.map((p) => [at(p), end(p, 2)]), lower = there.map((p) => [at(p), end(p, 1)]).reverse();
        const single = there.length === 1;
        const around = path(upper.concat(lower));
        group.append(make('path', single ? {class: 'bar', d: around} : {class: 'band', d: around + 'Z'}));
        group.append(make('path', {class: 'line', d: path(there.map((p) => [at(p), py(p.v[0])]))}));
      }
      const guaranteed = there.filter((p) => sy.shows(p.v[3]));
      if (guaranteed.length > 0) {
        group.append(make('path', {class: 'bound', d: path(guaranteed.map((p) => [at(p), py(p.v[3])]))}));
      }
      const marks = there.map((p) => {
        const place = 'translate(' + at(p).toFixed(1) + ' ' + py(p.v[0]).toFixed(1) + ')';
        const mark = make('path', {class: 'mark', transform: place, d: curve.marker});
        mark.append(make('title', {}, this.text(curve, p)));
        group.append(mark);
        if (p.v[4]) group.append(make('text', {class: 'star', x: at(p), y: py(p.v[0]) - 6, 'text-anchor': 'middle'}, '*'));
        return mark;
      });
      this.drawn.push({curve, there, marks});
      all.append(group);
    }
    this.figure.querySelector('.missing').textContent = this.missing(curves, sy);
    this.svg.classList.toggle('many', many);
    this.svg.append(clip, grid, tics, all);
    // What was said of a point may be of another axis or of a curve that is hidden now.
    this.out.textContent = '';
    this.at = {curve: -1, point: 0};
  }
  // Arrow keys walk through the points; what is at one is said below the picture, as under the pointer.
  keys() {
    this.svg.setAttribute('tabindex', '0');
    this.svg.setAttribute('aria-describedby', this.figure.id + '-desc');
    this.out.setAttribute('aria-live', 'polite');
    const go = (curve, point) => {
      if (!this.drawn) this.draw();
      if (this.drawn.length === 0) return;
      const c = (curve + this.drawn.length) % this.drawn.length, {there, marks} = this.drawn[c];
      const p = Math.max(0, Math.min(there.length - 1, point));
      for (const mark of this.svg.querySelectorAll('.mark.chosen')) mark.classList.remove('chosen');
      marks[p].classList.add('chosen');
      this.out.textContent = marks[p].querySelector('title').textContent;
      this.at = {curve: c, point: p};
    };
    this.svg.addEventListener('keydown', (event) => {
      const {curve, point} = this.at, moves = {
        ArrowRight: [Math.max(curve, 0), curve < 0 ? 0 : point + 1], ArrowLeft: [Math.max(curve, 0), point - 1],
        ArrowDown: [curve + 1, point], ArrowUp: [curve < 0 ? 0 : curve - 1, point],
      };
      if (!(event.key in moves)) return;
      event.preventDefault();
      go(...moves[event.key]);
    });
    this.svg.addEventListener('pointerover', (event) => {
      const mark = event.target.closest('.mark');
      if (mark) this.out.textContent = mark.querySelector('title').textContent;
    });
  }
}
