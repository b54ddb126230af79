// The theme takes the links of closed sections, "#", for those of the open page, and would open every section.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll('.wy-menu-vertical a[href="#"]:not(.current)')) {
    link.removeAttribute("href");
    link.onclick = () => link.parentElement.classList.toggle("current");
  }
});

// The theme's search asks for a file by HTTP. Opened from disk, the same index comes as a script (docs/site.sh).
const showFound = (pages, box, query) => {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = [];
  for (const page of pages) {
    const title = page.title.toLowerCase(), text = page.text.toLowerCase();
    if (words.length === 0 || !words.every((word) => title.includes(word) || text.includes(word))) continue;
    const times = words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
    found.push([words.filter((word) => title.includes(word)).length * 1000 + times, page, text.indexOf(words[0])]);
  }
  found.sort((a, b) => b[0] - a[0]);
  box.textContent = found.length === 0 ? "Nothing found" : "";
  for (const [, page, at] of found.slice(0, 40)) {
    const entry = document.createElement("article"), link = document.createElement("a"), text = document.createElement("p");
    link.href = page.location;
    link.textContent = page.title;
    const begin = Math.max(0, at - 80);
    text.textContent = (begin > 0 ? "..." : "") + page.text.slice(begin, begin + 240) + "...";
    entry.append(document.createElement("h3"), text);
    entry.firstChild.append(link);
    box.append(entry);
  }
};

document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("mkdocs-search-results");
  if (location.protocol !== "file:" || !box) return;
  const query = new URLSearchParams(location.search).get("q") || "", index = document.createElement("script");
  const field = document.getElementById("mkdocs-search-query");
  index.src = "search/search_index.js";
  index.onload = () => {
    if (field) {
      field.value = query;
      field.oninput = () => showFound(croquisPages, box, field.value);
    }
    showFound(croquisPages, box, query);
  };
  document.body.append(index);
});
