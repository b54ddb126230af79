// What can be toggled, sorted and walked through in a report; without it the page reads just as well. CMake puts
// page.js, page_plot.js and page_tables.js together, one after the other. This part: elements, numbers and axes.
'use strict';
const kSvg = 'http://www.w3.org/2000/svg';
const make = (name, attributes = {}, text = '') => {
  const node = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== '') node.textContent = text;
  return node;
};
const element = (name, attributes = {}, text = '') => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== '') node.textContent = text;
  return node;
};
// As shown_number() of the program. Of two numbers that are equally near toExponential takes the larger one, and the
// program the even one.
const shown = (x, digits = 4) => {
  if (x === null) return '-';
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return String(x);
  const [all, power] = x.toExponential(20).split('e'), figures = all.replace(/[-.]/g, '');
  const isDown = /^50*$/.test(figures.slice(digits)) && Number(figures[digits - 1]) % 2 === 0;
  const near = isDown ? Number(all.slice(0, all.length - (21 - digits)) + 'e' + power) : Number(x.toPrecision(digits));
  const [mantissa, exponent] = near.toExponential().split('e').map(Number);
  return exponent < -4 || exponent >= digits ? mantissa + 'e' + exponent : String(near);
};

// As AxisScale of the program.
class Scale {
  constructor(numbers, logarithmic) {
    let finite = [...new Set(numbers.filter((x) => x !== null && Math.abs(x) <= 1e150))].sort((a, b) => a - b);
    this.log = logarithmic && finite.length > 0 && finite[finite.length - 1] >= 1e-150;
    if (this.log) finite = finite.filter((x) => x >= 1e-150);
    this.few = finite.length <= 8 && finite.every((x) => Number.isInteger(x) && x < 1e6) ? finite : [];
    [this.low, this.high] = finite.length > 0 ? [finite[0], finite[finite.length - 1]] : [0, 1];
    if (finite.length === 0) return;
    if (this.log) {
      const ratio = this.high / this.low;
      const margin = ratio > 1 ? Math.max(Math.pow(ratio, 0.04), 1 + 1e-9) : Math.pow(1.5, 0.04);
      this.low /= margin;
      this.high *= margin;
    } else {
      const size = Math.max(Math.abs(this.low), Math.abs(this.high));
      const margin = this.high > this.low ? Math.max(0.04 * (this.high - this.low), 1e-9 * size) : 0.04 * Math.max(size, 1);
      if (this.low > 0 && this.low < 0.5 * this.high) this.low = 0;
      if (this.low !== 0) this.low -= margin;
      this.high += margin;
    }
  }
  shows(x) { return x !== null && x !== undefined && Math.abs(x) <= 1e150 && (!this.log || x >= 1e-150); }
  place(x) {
    return this.log ? Math.log(x / this.low) / Math.log(this.high / this.low) : (x - this.low) / (this.high - this.low);
  }
  tics() {
    let places = [...this.few];
    if (places.length === 0 && this.log) {
      const first = Math.floor(Math.log10(this.low)), last = Math.ceil(Math.log10(this.high));
      const step = Math.max(1, Math.floor((last - first + 6) / 7));
      for (let e = first; e <= last; e += step) {
        for (const digit of last - first <= 3 ? [1, 2, 5] : [1]) places.push(digit * Math.pow(10, e));
      }
      places = places.filter((x) => x >= this.low && x <= this.high);
    }
    if (places.length < 2 && this.few.length === 0) {
      const rough = (this.high - this.low) / 5, power = Math.pow(10, Math.floor(Math.log10(rough)));
      const step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
      places = [];
      for (let k = Math.ceil(this.low / step); k * step <= this.high; ++k) places.push(k * step);
    }
    let last = -1;
    return places.filter((x) => {
      const room = this.few.length === 0 || last < 0 || this.place(x) - last > 0.045;
      if (room) last = this.place(x);
      return room;
    });
  }
}
const label = (x) => {
  if (x === 0) return '0';
  if (Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5) return String(Number(x.toPrecision(6)));
  const e = Math.floor(Math.log10(Math.abs(x)) + 1e-9);
  return Number((x / Math.pow(10, e)).toPrecision(4)) + 'e' + e;
};

const choice = (name, options, change) => {
  const box = element('label', {}, name + ' ');
  const select = element('select', {'data-control': name});
  options.forEach((option, i) => select.append(element('option', {value: i}, option)));
  select.addEventListener('change', () => change(Number(select.value)));
  box.append(select);
  return box;
};
