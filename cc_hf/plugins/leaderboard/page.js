// The tab is in the address after "#".
const ccAddress = () => new URLSearchParams(location.hash.slice(1));
const ccWriteAddress = (names, values) => {
  const address = ccAddress();
  names.forEach((name, i) => { if (values[i]) address.set(name, values[i]); else address.delete(name); });
  // With its path and query, since gradio sets the base of relative addresses.
  history.replaceState(null, "", `${location.pathname}${location.search}#${address}`);
};
const CC_TABS = "button[role=tab], .overflow-dropdown button";  // on a phone, further tabs are in a menu
const ccTabs = () => [...document.querySelectorAll(CC_TABS)];
document.addEventListener("click", event => {
  const tab = event.target instanceof Element ? event.target.closest(CC_TABS) : null;
  const first = ccTabs()[0];
  if (tab) ccWriteAddress(["tab"], [tab.textContent.trim() === first.textContent.trim() ? "" : tab.textContent.trim()]);
});
const ccOpenTab = new MutationObserver(() => {
  const name = ccAddress().get("tab");
  const tab = name && ccTabs().find(button => button.textContent.trim() === name);
  if (name && !tab) return;
  ccOpenTab.disconnect();
  if (tab) tab.click();
});
ccOpenTab.observe(document, { childList: true, subtree: true });
