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

  const showZones = () => {
    for (const time of document.querySelectorAll('time[data-local]')) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime()) || at.getTimezoneOffset() === 0 || time.querySelector('.zone')) continue;
      const zone = document.createElement('span');
      zone.className = 'zone';
      zone.textContent = ` (${at.toLocaleString(root.lang, { dateStyle: 'medium', timeStyle: 'short' })})`;
      time.append(zone);
    }
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
})();
