// The theme takes the links of closed sections, "#", for those of the open page, and would open every section.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll('.wy-menu-vertical a[href="#"]:not(.current)')) {
    link.removeAttribute("href");
    link.onclick = () => link.parentElement.classList.toggle("current");
  }
});
