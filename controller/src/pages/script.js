// Keeps an open page up to date. When the server says that something happened, the page is fetched again and the
// parts that changed are put in place. Everything works without this: reloading does the same.
"use strict";
(() => {
  const QUIET = 700; // What happens so soon after belongs together.
  const fleet = document.body.dataset.fleet;
  const live = document.getElementById("live");
  const news = document.getElementById("news");
  let source, timer, busy = false, again = false;

  const say = (text) => { if (live && live.textContent !== text) live.textContent = text; };

  // What a person had opened or reached stays so.
  const keep = (old) => {
    const open = new Map([...old.querySelectorAll("details[data-key]")].map((one) => [one.dataset.key, one.open]));
    const held = document.activeElement;
    const inside = held && old.contains(held);
    const focus = !inside ? null : held.closest("details[data-key]")?.dataset.key ?? held.getAttribute("href");
    return (fresh) => {
      for (const one of fresh.querySelectorAll("details[data-key]")) {
        if (open.has(one.dataset.key)) one.open = open.get(one.dataset.key);
      }
      if (focus === null || focus === undefined) return;
      for (const one of fresh.querySelectorAll("details[data-key] > summary, a[href]")) {
        if (one.parentElement.dataset.key === focus || one.getAttribute("href") === focus) {
          one.focus({ preventScroll: true });
          return;
        }
      }
    };
  };

  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      let changed = 0;
      for (const old of document.querySelectorAll("[data-live]")) {
        const fresh = page.getElementById(old.id);
        if (!fresh || fresh.innerHTML === old.dataset.shown) continue;
        const first = old.dataset.shown === undefined;
        const html = fresh.innerHTML;
        if (!first || html !== old.innerHTML) {
          const restore = keep(old);
          old.replaceChildren(...fresh.childNodes);
          restore(old);
          changed += 1;
        }
        old.dataset.shown = html;
      }
      const clock = document.querySelector(".clock");
      const now = page.querySelector(".clock");
      if (clock && now) clock.replaceChildren(...now.childNodes);
      tell();
    } catch {
      // The server is away, or the network is: the stream of news says when it is back.
      say("not connected; trying again");
    } finally {
      busy = false;
      if (again) { again = false; soon(); }
    }
  };

  // A screen reader is told when the state changes, not each time a figure does.
  let told = null;
  const tell = () => {
    const state = [...document.querySelectorAll("#glance dd:first-of-type, .title .badge")]
      .map((one) => one.textContent.trim()).slice(0, 1).join(" ");
    if (told !== null && state !== told && news) {
      news.textContent = fleet ? `Now: ${state}` : `${state} need attention`;
    }
    told = state;
  };

  const soon = () => { clearTimeout(timer); timer = setTimeout(refresh, QUIET); };

  const listen = () => {
    if (source || !document.querySelector("[data-live]")) return;
    source = new EventSource("/v1/events");
    source.addEventListener("open", () => say("live"));
    source.addEventListener("error", () => say("not connected; trying again"));
    source.addEventListener("looked", (event) => { if (!fleet || JSON.parse(event.data).fleet === fleet) soon(); });
    // "reload": some news were missed, and anything may have changed.
    for (const all of ["specs", "replicas", "reload"]) source.addEventListener(all, soon);
  };

  // A page that nobody sees asks for nothing.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { source?.close(); source = undefined; say("paused"); }
    else { refresh(); listen(); }
  });

  tell();
  listen();
})();
