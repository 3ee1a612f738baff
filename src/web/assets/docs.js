// biome-ignore lint/suspicious/noRedundantUseStrict: it runs as a script, not as a module.
'use strict';
// What a page of the documentation can do besides: buttons that copy an example, one language for all of them,
// search while one types, and a mark in the menu where the reader is. Without it nothing is missing that cannot
// be had by a click more.
(() => {
  const TYPING_MS = 120;
  const LANGUAGE = 'docs-language';
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // page.js copies what the element with that id holds; of several languages, the one that is seen.
  let examples = 0;
  for (const pre of all('.code>pre,.tabs>pre')) {
    pre.id = `example-${++examples}`;
    const shown = pre.parentElement.querySelector('.copier');
    if (shown) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet copier';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', 'Copy: example');
    button.dataset.copied = 'Copied';
    button.dataset.copy = pre.id;
    pre.parentElement.append(button);
  }
  const aim = (tabs) => {
    const { value } = tabs.querySelector(':checked');
    tabs.querySelector('.copier').dataset.copy = tabs.querySelector(`[data-lang=${value}]`).id;
  };

  const choose = (language) => {
    for (const input of all('.tabs input'))
      if (input.value === language && !input.checked) {
        input.checked = true;
        aim(input.closest('.tabs'));
      }
  };
  const remembered = () => {
    try {
      return localStorage.getItem(LANGUAGE);
    } catch {
      return null;
    }
  };
  for (const tabs of all('.tabs')) aim(tabs);
  const before = remembered();
  if (before) choose(before);
  document.addEventListener('change', ({ target }) => {
    const tabs = target.closest('.tabs');
    if (!tabs) return;
    // What is above grows or shrinks with the choice: the example that was chosen stays where it is.
    const top = tabs.getBoundingClientRect().top;
    aim(tabs);
    choose(target.value);
    scrollBy(0, tabs.getBoundingClientRect().top - top);
    try {
      localStorage.setItem(LANGUAGE, target.value);
    } catch {}
  });

  const form = document.querySelector('[role=search]');
  const input = form.elements.q;
  let list;
  let asked = 0;
  let typing;
  const close = () => {
    // Taking the list away moves the focus, which closes it: there is nothing left to close then.
    const shown = list;
    list = undefined;
    shown?.remove();
  };
  const look = async () => {
    const mine = ++asked;
    const query = input.value.trim();
    if (query === '') return close();
    const answer = await fetch(`${form.action}?q=${encodeURIComponent(query)}`).catch(() => undefined);
    if (!answer?.ok || mine !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const found = page.querySelector('#results');
    if (mine !== asked || !found) return;
    close();
    list = document.createElement('ol');
    list.className = 'found';
    list.append(...found.children);
    form.append(list);
    const told = page.querySelector('#main .muted');
    document.dispatchEvent(new CustomEvent('shown', { detail: told?.firstChild?.textContent.trim() }));
  };
  input.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(look, TYPING_MS);
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) close();
  });
  form.addEventListener('click', ({ target }) => {
    if (target.closest('a')) close();
  });
  document.addEventListener('keydown', (event) => {
    const writes = event.target.matches('input:not([type=radio]),textarea');
    if (event.key === '/' && !writes && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
    if (!form.contains(event.target) || !list) return;
    if (event.key === 'Escape') {
      // The browser would empty the field.
      event.preventDefault();
      close();
      input.focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const ways = [input, ...all('a', list)];
    const next = ways.indexOf(document.activeElement) + step;
    ways[Math.max(0, Math.min(ways.length - 1, next))].focus();
  });

  const menu = document.querySelector('.menu');
  const ways = new Map(
    all('nav a[href^="#"]').map((way) => [document.getElementById(way.hash.slice(1)), way]),
  );
  menu.nextElementSibling.addEventListener('click', ({ target }) => {
    if (target.closest('a')) menu.open = false;
  });
  // Where the reader is: the last place that has been scrolled to, or past.
  const REACHED_PX = 140;
  let marked;
  const mark = () => {
    const passed = [...ways].filter(([place]) => place?.getBoundingClientRect().top < REACHED_PX).at(-1)?.[1];
    if (passed === marked) return;
    marked?.removeAttribute('aria-current');
    passed?.setAttribute('aria-current', 'location');
    marked = passed;
    const nav = menu.nextElementSibling;
    if (!passed || nav.contains(document.activeElement)) return;
    const { top, bottom } = passed.getBoundingClientRect();
    const frame = nav.getBoundingClientRect();
    if (top < frame.top || bottom > frame.bottom) nav.scrollTop += top - frame.top - frame.height / 3;
  };
  let waits = false;
  addEventListener(
    'scroll',
    () => {
      if (waits) return;
      waits = true;
      requestAnimationFrame(() => {
        waits = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
})();
