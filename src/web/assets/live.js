// biome-ignore lint/suspicious/noRedundantUseStrict: it runs as a script, not as a module.
'use strict';
// Follows a payment link: puts the server's own rendering of the page in place whenever it changed, and counts
// down by the server's clock. Without a stream it asks for the same rendering again and again.
(() => {
  const POLL_MS = 5000;
  // Within this time a stream begins; a sign of life comes every 15 s.
  const FIRST_MS = 8000;
  const SILENT_MS = 40000;
  // After this time a stream is tried again, and a hidden tab gives its own up.
  const MINUTE_MS = 60000;

  const main = document.querySelector('main');
  const address = `${location.pathname}/live${location.search || '?'}`;

  let [stream, timer, hiding, tag, polling, over, ahead] = [];
  // When the stream broke, 0 while there is one; and when one was tried.
  let [brokenAt, triedAt] = [0, 0];

  // What stays in its place keeps focus and selection: nodes are matched by what they are, in their order.
  const keyOf = (node) => `${node.nodeName} ${node.id} ${node.dataset?.part}`;

  const putChildren = (old, fresh) => {
    const rest = [...fresh.childNodes];
    let at = old.firstChild;
    while (rest.length) {
      const next = rest.shift();
      let same = at;
      // Only what the server does not show any more is passed over.
      while (same && keyOf(same) !== keyOf(next))
        same = same.nodeType === 1 && rest.map(keyOf).includes(keyOf(same)) ? null : same.nextSibling;
      if (same) {
        while (at !== same) at = drop(at);
        at = same.nextSibling;
        put(same, next);
      } else old.insertBefore(next, at);
    }
    while (at) at = drop(at);
  };

  const drop = (node) => {
    const { nextSibling } = node;
    node.remove();
    return nextSibling;
  };

  const put = (old, fresh) => {
    // What a script wrote into a time stays as long as the time does.
    if (old.isEqualNode(fresh) || (old.dateTime && old.dateTime === fresh.dateTime)) return;
    if (old.nodeType !== 1) {
      old.data = fresh.data;
      return;
    }
    for (const { name } of [...old.attributes])
      if (name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
    putChildren(old, fresh);
  };

  const spoken = () => main.querySelector('[data-say]')?.dataset.say;

  const show = (text) => {
    const view = JSON.parse(text);
    const before = spoken();
    const focused = document.activeElement;
    const template = document.createElement('template');
    template.innerHTML = `\n${view.main}\n`;
    putChildren(main, template.content);
    document.title = view.title;
    if (!focused.isConnected) main.focus({ preventScroll: true });
    const say = spoken();
    document.dispatchEvent(new CustomEvent('shown', { detail: say !== before && say }));
    setClock(view.server_time);
    over = !view.open;
    if (over) close();
  };

  const setClock = (time) => {
    // By how much the server's clock is ahead of the reader's, which may be wrong by any amount.
    ahead = Date.parse(time) - Date.now();
    countDown();
  };

  const countDown = () => {
    for (const time of main.querySelectorAll('time[data-until]')) {
      const left = Math.max(0, (Date.parse(time.dataset.until) - Date.now() - ahead) / 1000);
      const parts = [left / 3600, (left / 60) % 60, left % 60].map((part) =>
        `${Math.floor(part)}`.padStart(2, '0'),
      );
      const text = parts.join(':').replace(/^(00:)?0?/, '');
      if (time.textContent !== text) time.textContent = text;
    }
  };

  const close = () => {
    clearTimeout(timer);
    stream?.close();
    stream = null;
  };

  const broken = () => {
    close();
    brokenAt = brokenAt || Date.now();
    poll();
  };

  // The stream counts as broken when nothing comes for so long.
  const expect = (ms) => {
    clearTimeout(timer);
    timer = setTimeout(broken, ms);
  };

  const listen = () => {
    close();
    triedAt = Date.now();
    stream = new EventSource(address);
    expect(FIRST_MS);
    stream.addEventListener('view', ({ data }) => {
      [brokenAt, tag] = [0];
      expect(SILENT_MS);
      show(data);
    });
    stream.addEventListener('still', ({ data }) => {
      expect(SILENT_MS);
      setClock(data);
    });
    // A stream that was only cut off is opened again by the browser; one that was refused is not.
    stream.onerror = ({ target }) => (target.readyState === 2 ? broken() : expect(FIRST_MS));
  };

  const poll = async () => {
    clearTimeout(timer);
    if (polling || over || document.hidden) return;
    polling = true;
    try {
      // Not by AbortSignal.timeout, which phones of some years ago have not.
      const limit = new AbortController();
      setTimeout(() => limit.abort(), FIRST_MS);
      const answer = await fetch(`${address}&once=1`, {
        cache: 'no-store',
        headers: tag ? { 'If-None-Match': tag } : {},
        signal: limit.signal,
      });
      if (answer.ok) {
        tag = answer.headers.get('ETag');
        show(await answer.text());
      }
    } catch {
      // It is asked again.
    }
    polling = false;
    if (over) return;
    const now = Date.now();
    // Browsers that were cut off together come back one after the other.
    const pause = POLL_MS * (now - brokenAt > 2 * MINUTE_MS ? 3 : 1) * (0.9 + Math.random() / 5);
    timer = setTimeout(now - triedAt > MINUTE_MS ? listen : poll, pause);
  };

  const start = () => {
    if (over || document.hidden || stream?.readyState < 2) return;
    if (brokenAt) poll();
    else listen();
  };

  // A tab that nobody looks at asks for nothing, and after a while holds no connection: browsers have few.
  document.onvisibilitychange = () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(close, MINUTE_MS);
    else start();
  };
  setInterval(() => ahead !== undefined && countDown(), 1000);
  start();
  // From now on the page need not load itself again.
  clearTimeout(window.again);
})();
