// biome-ignore lint/suspicious/noRedundantUseStrict: it runs as a script, not as a module.
'use strict';
// Moves the code of a link from the address into the form, and out of the address and the history. Without it
// the person copies the code.
(() => {
  const field = document.getElementById('code');
  const take = () => {
    const code = location.hash.slice(1);
    if (code) {
      field.value = code;
      history.replaceState(null, '', location.pathname);
    }
    document.getElementById('by-hand').hidden = field.value !== '';
  };
  addEventListener('hashchange', take);
  take();
})();
