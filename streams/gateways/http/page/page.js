// What the page can do better with a script: the slider acts while it moves, and turns are shown as they come.
// All else, and all that is shown, is made by the server; without this file the page works by its forms and links.
"use strict";

document.documentElement.classList.add("scripted");
const time = document.querySelector("form.time");
const slider = document.getElementById("moment");
let asked = 0;

// Puts the parts of the page at `url` in the place of those that are shown. The latest asked for wins.
async function show(url, keep) {
  const mine = ++asked;
  const answer = await fetch(url, { headers: { Accept: "text/html" } });
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine !== asked) return;
  if (!found.querySelector("[data-swap=main]")) return;
  const reads = document.querySelector("details.explains")?.open;
  for (const place of document.querySelectorAll("[data-swap]")) {
    const part = found.querySelector(`[data-swap=${place.dataset.swap}]`);
    if (part) place.replaceChildren(...part.childNodes);
  }
  document.querySelector("details.explains")?.toggleAttribute("open", reads);
  document.title = found.title;
  const moved = found.getElementById("moment");
  if (slider && moved) {
    slider.min = moved.min;
    slider.max = moved.max;
    if (keep !== "slider") slider.value = moved.value;
  }
  const kept = new URL(url, location.href);
  kept.searchParams.delete("after");
  history.replaceState(null, "", kept);
  told();
}

document.getElementById("space")?.addEventListener("change", (event) => event.target.form.submit());

if (slider) {
  let waiting;
  slider.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const url = new URL(location.href);
      if (slider.value === slider.max) url.searchParams.delete("as_of");
      else url.searchParams.set("as_of", `${time.dataset.partition}:${slider.value}`);
      show(url, "slider");
    }, 120);
  });
}

// -- live -------------------------------------------------------------------------------------------------------------

const isNow = () => !new URL(location.href).searchParams.has("as_of");
let state = "";

function told(words) {
  const live = document.getElementById("live");
  if (words !== undefined) state = words;
  if (live && live.textContent !== state) live.textContent = state;
  live?.classList.toggle("on", state === "live");
}

// Whether somebody writes there, or has opened something: that must not vanish under their hands. What explains words
// stays open beside new turns.
const isBusy = () => document.querySelector("main details[open]:not(.explains), main :is(input, select):focus");

if (time && window.EventSource) {
  let waiting;
  let last = "";
  const renew = () => {
    if (!isNow()) return;
    if (isBusy()) {
      told("something new came: close what is open to see it");
      waiting = setTimeout(renew, 2000);
      return;
    }
    const url = new URL(location.href);
    url.searchParams.set("after", last);
    show(url).then(() => told("live"));
  };
  const news = new EventSource(`/v1/events?${new URLSearchParams({ space: time.dataset.space })}`);
  const heard = (event) => {
    last = event.lastEventId;
    clearTimeout(waiting);
    waiting = setTimeout(renew, 300);
  };
  for (const type of time.dataset.types.split(" ")) news.addEventListener(type, heard);
  news.onopen = () => told("live");
  news.onerror = () => told("not connected");
}
