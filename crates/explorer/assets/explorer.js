// Keys and small helps. Each page also works without this file.
"use strict";

/* === time === */
(() => {
  const $ = (selector) => document.querySelector(selector);

  // The slider: shows its time while it moves, and changes the page when it is released.
  const restoring = "icm-slider";
  for (const form of document.querySelectorAll("form[data-moment]")) {
    const slider = form.querySelector("input[type=range]");
    const field = form.querySelector("input[type=datetime-local]");
    if (!slider) continue;
    let zone = form.dataset.zone;
    try { new Intl.DateTimeFormat("sv", { timeZone: zone }); } catch { zone = undefined; }
    const write = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium", timeZone: zone });
    const output = document.createElement("output");
    output.className = "moving";
    output.hidden = true;
    output.setAttribute("for", slider.id);
    slider.after(output);
    let wait, by_key = false;
    const go = () => {
      if (slider.value === slider.defaultValue) return;
      // The field did not change, so the slider counts.
      field.value = field.defaultValue;
      sessionStorage.setItem(restoring, slider.id);
      form.requestSubmit();
    };
    // Keys move it in steps: the page follows when they rest.
    const soon = () => { clearTimeout(wait); wait = setTimeout(go, by_key ? 500 : 0); };
    slider.addEventListener("keydown", () => { by_key = true; });
    slider.addEventListener("pointerdown", () => { by_key = false; });
    slider.addEventListener("input", () => {
      const is_now = slider.value === slider.max;
      const shown = is_now ? "now" : write.format(new Date(Number(slider.value) * 1000));
      slider.setAttribute("aria-valuetext", shown);
      output.textContent = shown;
      output.hidden = false;
    });
    slider.addEventListener("change", soon);
    if (sessionStorage.getItem(restoring) === slider.id) {
      sessionStorage.removeItem(restoring);
      slider.focus({ preventScroll: true });
    }
  }

  // The feed: shows new events while the page is seen. Its stream takes one of the browser's six connections.
  const feed = $("[data-feed]");
  if (feed) {
    const rows = feed.querySelector("[data-rows]");
    const live = feed.querySelector("[data-live]");
    const most = Number(rows.dataset.most);
    let after = feed.dataset.after;
    let source, again;
    const say = (text, is_on) => { live.hidden = false; live.textContent = text; live.classList.toggle("off", !is_on); };
    const close = () => {
      clearTimeout(again);
      if (source) source.close();
      source = undefined;
    };
    const open = () => {
      close();
      if (document.hidden) return;
      const opened = new EventSource(`${feed.dataset.feed}?after=${after}`);
      source = opened;
      opened.onopen = () => say("live", true);
      opened.onerror = () => {
        if (opened.readyState !== EventSource.CLOSED) { say("connecting again", false); return; }
        // The server has no place for one more stream, or does not know this browser any more.
        say("not live: reload the page, or close others like it", false);
        again = setTimeout(open, 10000);
      };
      opened.addEventListener("rows", (event) => {
        after = event.lastEventId;
        rows.insertAdjacentHTML("afterbegin", event.data);
        while (rows.children.length > most) rows.lastElementChild.remove();
        htmx.trigger("#state", "rows");
      });
      // Another store lies in the folder: what the page shows is of the old one.
      opened.addEventListener("replaced", () => { close(); location.reload(); });
    };
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    window.addEventListener("pagehide", close);
    window.addEventListener("pageshow", (event) => { if (event.persisted) open(); });
    open();
  }

  // Keys.
  const rows = () => {
    const marked = [...document.querySelectorAll("main [data-row]")];
    const found = marked.length ? marked : [...document.querySelectorAll("main ol > li, main ul > li, main tbody > tr")];
    return found.filter((row) => row.offsetParent !== null);
  };
  const move = (by) => {
    const all = rows();
    if (!all.length) return;
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
    next.tabIndex = -1;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };
  const open = () => {
    const row = document.activeElement;
    if (!rows().includes(row)) return false;
    const link = row.querySelector("a.open") || row.querySelector("a[href]");
    if (link) link.click();
    return Boolean(link);
  };
  const step = (way) => {
    const link = $(`a[data-step=${way}]`);
    if (link) link.click();
  };
  const keys = {
    "/": () => { const find = $("#find"); find.focus(); find.select(); },
    "j": () => move(1),
    "k": () => move(-1),
    "[": () => step("prev"),
    "]": () => step("next"),
    "?": () => $("#keys").togglePopover(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const field = event.target.closest("input, textarea, select, [contenteditable]");
    if (field) return;
    if (event.key === "Enter") {
      if (event.target.closest("a, button, summary")) return;
      if (open()) event.preventDefault();
      return;
    }
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });
})();
