// biome-ignore lint/suspicious/noRedundantUseStrict: it runs as a script, not as a module.
'use strict';
// What every page with script has: buttons that copy, times in the reader's own zone, and one place from which
// things are said to those who are read to. It asks nobody for anything, and no word of it is shown: words come
// with the page.
(() => {
  const COPIED_MS = 2000;
  const SENT_MS = 5000;
  const root = document.documentElement;
  root.classList.add('script');

  // It has to be there, and empty, before something is said.
  const region = document.createElement('p');
  region.className = 'hidden';
  region.setAttribute('role', 'status');
  document.body.append(region);

  const say = (text) => {
    // The same text twice in a row would be no change, and is not read.
    region.textContent = '';
    setTimeout(() => {
      region.textContent = text;
    }, 100);
  };

  // Without a clipboard (a page by plain http has none) the text is at least selected.
  const copy = async (source) => {
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      return true;
    } catch {
      getSelection().selectAllChildren(source);
      return document.execCommand('copy');
    }
  };

  const onCopy = async (button) => {
    const source = document.getElementById(button.dataset.copy);
    if (!source || !(await copy(source))) return;
    const { copied } = button.dataset;
    say(copied);
    const words = button.textContent;
    if (words === copied) return;
    // Nothing beside it moves when the word is another one.
    button.style.minWidth = `${button.offsetWidth}px`;
    button.textContent = copied;
    setTimeout(() => {
      button.textContent = words;
    }, COPIED_MS);
  };

  // Hours ahead of UTC, as short as the three letters whose place they take: "+1", "-5", "+5:30".
  const offset = (minutes) =>
    `${minutes < 0 ? '-' : '+'}${Math.floor(Math.abs(minutes) / 60)}${minutes % 60 ? `:${Math.abs(minutes % 60)}` : ''}`;

  // In the form that the server chose: "2026-11-20 10:00", or as the page's language has it.
  const local = (at, shown) => {
    const iso = new Date(at - at.getTimezoneOffset() * 60000).toISOString();
    const short = { dateStyle: 'medium', timeStyle: 'short' };
    const text = /^\d{4}-/.test(shown)
      ? `${iso.slice(0, 10)} ${iso.slice(11, 16)}`
      : at.toLocaleString(root.lang === 'en' ? 'en-GB' : root.lang, short);
    return `${text} ${offset(-at.getTimezoneOffset())}`;
  };

  const showZones = () => {
    for (const time of document.querySelectorAll('time[data-local]')) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime()) || at.getTimezoneOffset() === 0 || time.title) continue;
      // In the place of the server's words, which stay to be looked at, and as large, so that nothing is moved.
      time.style.minWidth = `${time.offsetWidth}px`;
      time.style.minHeight = `${time.offsetHeight}px`;
      time.style.padding = 0;
      time.title = time.textContent;
      time.textContent = local(at, time.title);
    }
  };

  // Pages are never kept by the browser: who goes back to a form gets it made anew, with another key, and would
  // send it a second time. So the entry of the history remembers the keys of the forms that it showed, but not of
  // those that make nothing (data-again): sent again they are meant, as things have changed in between.
  const keepKeys = () => {
    const keys = { ...history.state?.keys };
    for (const key of document.querySelectorAll('form:not([data-again]) input[type=hidden][name=once]')) {
      const others = [...key.form.querySelectorAll('input[type=hidden]')].filter((field) => field !== key);
      const name = [key.form.action, ...others.map(({ value }) => value)].join(' ');
      keys[name] ??= key.value;
      key.value = keys[name];
    }
    history.replaceState({ ...history.state, keys }, '');
  };

  document.addEventListener('click', ({ target }) => {
    const button = target.closest('[data-copy]');
    if (button) onCopy(button);
  });
  // A second click on the way would send the form again, which does nothing twice but takes its answer away.
  const enable = (form, enabled) => {
    for (const button of form.querySelectorAll('button[type=submit]')) button.disabled = !enabled;
  };
  document.addEventListener('submit', ({ target }) => {
    setTimeout(() => enable(target, false));
    setTimeout(() => enable(target, true), SENT_MS);
  });
  addEventListener('pageshow', () => enable(document, true));
  // Another rendering of the page was put in place, and with it came something to say, or nothing.
  document.addEventListener('shown', ({ detail }) => {
    if (detail) say(detail);
    showZones();
  });
  showZones();
  keepKeys();
})();
