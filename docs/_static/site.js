// What the theme leaves out for those who use a keyboard or a screen reader.
const reach = () => {
  for (const part of document.querySelectorAll("pre, .table-wrapper")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
};
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) caption.setAttribute("aria-level", "2");
  reach();
});
addEventListener("resize", reach);
