// Printed pages are light, and show what is folded or listed in part on the screen.
function setUpPrinting(theme, parts) {
  let opened = [];
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = theme.current();
    theme.set("light");
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const part of parts) part.print(true);
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    for (const part of parts) part.print(false);
    theme.set(before);
  });
}
