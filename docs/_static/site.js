/* Names and roles for screen readers, where the theme and the gallery leave them out. */
function name(selector, text) {
  for (const element of document.querySelectorAll(selector)) {
    element.setAttribute("aria-label", typeof text === "string" ? text : text(element));
  }
}

function without(selector, attribute) {
  for (const element of document.querySelectorAll(selector)) element.removeAttribute(attribute);
}

function reachTables() {
  for (const table of document.querySelectorAll(".bd-article table, .bd-article pre")) {
    if (table.scrollWidth > table.clientWidth) table.setAttribute("tabindex", "0");
    else table.removeAttribute("tabindex");
  }
}

document.addEventListener("DOMContentLoaded", () => {
  name("nav summary", "Pages of this section");
  name(".sphx-glr-thumbcontainer a", (link) => link.textContent);
  name("button.search-button-field", (button) => button.textContent.replace(/\s+/g, " ").trim() || "Search");
  without("details.hide summary", "aria-label");
  name("button.search-button:not(.search-button-field)", "Search");
  without(".citation-list, .citation", "role");
  reachTables();
});
window.addEventListener("resize", reachTables);
