// Tables that sort, maps over layers and heads; and the beginning of it all.
// A click on a head sorts by its column; one more, the other way round.
const makeSortable = (table) => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = element('button', {type: 'button'}, head.textContent);
    head.textContent = '';
    head.append(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending', sign = down ? -1 : 1;
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const number = head.classList.contains('n');
      const key = (row) => {
        const cell = row.cells[column];
        return number ? (cell.dataset.v === undefined ? NaN : Number(cell.dataset.v)) : cell.textContent;
      };
      const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
      rows.sort(([a], [b]) => {
        if (!number) return sign * a.localeCompare(b, 'en', {numeric: true});
        if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
        return sign * (a - b);
      });
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
};

const makeMaps = (figure) => {
  const data = JSON.parse(figure.querySelector('script').textContent), box = figure.querySelector('.controls');
  const sizes = Math.max(1, data.sizes.length), state = {size: sizes - 1, metric: 0};
  const fill = () => {
    const of = (table) => {
      const row = (Number(table.dataset.label) * sizes + state.size) * data.metrics.length + state.metric;
      return data.values.slice(row * data.places, (row + 1) * data.places);
    };
    const tables = [...figure.querySelectorAll('table.map')];
    const all = tables.flatMap(of).filter((x) => x !== null);
    const low = Math.min(...all), high = Math.max(...all), log = low > 0 && high > 10 * low;
    const shade = (x) => {
      if (!(high > low)) return 0;
      const at = log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);
      return Math.max(0, Math.min(11, Math.floor(at * 12)));
    };
    for (const table of tables) {
      const values = of(table);
      for (const cell of table.querySelectorAll('td[data-i]')) {
        const x = values[Number(cell.dataset.i)];
        cell.textContent = shown(x, 2);
        cell.className = x === null ? '' : 'h' + shade(x);
      }
    }
    const size = data.sizes.length > 0 ? ', ' + data.size + ' = ' + data.sizes[state.size] : '';
    figure.querySelector('.which').textContent = data.metrics[state.metric] + size;
  };
  if (data.sizes.length > 1) {
    const pick = choice(data.size, data.sizes, (i) => { state.size = i; fill(); });
    pick.querySelector('select').value = state.size;
    box.append(pick);
  }
  if (data.metrics.length > 1) box.append(choice('of', data.metrics, (i) => { state.metric = i; fill(); }));
  box.hidden = box.childElementCount === 0;
};

document.documentElement.classList.add('live');
for (const figure of document.querySelectorAll('figure.chart')) figure.plot = new Plot(figure);
for (const figure of document.querySelectorAll('figure.maps')) makeMaps(figure);
for (const table of document.querySelectorAll('table.sortable')) makeSortable(table);
