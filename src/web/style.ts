/**
 * The one stylesheet of all pages. It is part of the document, allowed by its hash: there
 * is no second request, and none to anybody else.
 */
export const STYLE = `
:root{color-scheme:light dark;--bg:#f4f5f7;--card:#fff;--text:#1b1f24;--muted:#57606a;--line:#d5dae0;--accent:#0b57d0;--on-accent:#fff;
--good:#12652f;--good-bg:#e3f4e8;--warn:#7a4a00;--warn-bg:#fdf1d8;--bad:#a1161f;--bad-bg:#fde9ea}
@media (prefers-color-scheme:dark){:root{--bg:#0f1216;--card:#181c22;--text:#e8ebef;--muted:#a3adb8;--line:#343b45;--accent:#8ab4f8;--on-accent:#0b1220;
--good:#86dba0;--good-bg:#12301d;--warn:#f3c877;--warn-bg:#33270d;--bad:#ff9c9f;--bad-bg:#3a1719}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
main{max-width:30rem;margin:0 auto;padding:1.5rem 1rem 3rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.25rem;margin:0 0 1rem}
h1{font-size:1.125rem;font-weight:600;margin:0 0 .25rem;line-height:1.35}
h2{font-size:1rem;font-weight:600;margin:0 0 .5rem}
p{margin:0 0 .75rem}
.card>:last-child{margin-bottom:0}
.muted{color:var(--muted);font-size:.9375rem}
.amount{font-size:2rem;font-weight:650;line-height:1.2;margin:0 0 .25rem;font-variant-numeric:tabular-nums}
.description{white-space:pre-line;max-height:14rem;overflow-y:auto}
a{color:var(--accent)}
a:focus-visible,button:focus-visible,input:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.notice{border-radius:8px;padding:.75rem 1rem;margin:0 0 1rem}
.good{background:var(--good-bg);color:var(--good)}
.warn{background:var(--warn-bg);color:var(--warn)}
.bad{background:var(--bad-bg);color:var(--bad)}
.info{background:var(--bg);border:1px solid var(--line)}
.notice strong{display:block}
.choice{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;margin:0 0 1rem;padding:0}
.choice a,.button{display:inline-block;min-height:44px;padding:.55rem 1rem;border:1px solid var(--line);border-radius:8px;text-decoration:none;color:var(--text);background:var(--card)}
.choice a[aria-current]{border-color:var(--accent);background:var(--accent);color:var(--on-accent);font-weight:600}
.button,button{font:inherit;font-weight:600;background:var(--accent);border:1px solid var(--accent);color:var(--on-accent)}
button{min-height:44px;width:100%;border-radius:8px;padding:.55rem 1rem;cursor:pointer}
dl{margin:0 0 1rem}
dt{color:var(--muted);font-size:.875rem}
dd{margin:0 0 .75rem}
.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.9375rem;user-select:all;-webkit-user-select:all}
.qr{display:block;width:100%;max-width:15rem;height:auto;margin:0 auto 1rem;border-radius:8px}
.rows{list-style:none;margin:0;padding:0}
.rows li{border-top:1px solid var(--line);padding:.75rem 0}
.rows li:first-child{border-top:0;padding-top:0}
.rows li:last-child{padding-bottom:0}
label{display:block;font-weight:600;margin:0 0 .25rem}
input{font:inherit;width:100%;min-height:44px;padding:.5rem .75rem;margin:0 0 1rem;border:1px solid var(--muted);border-radius:8px;background:var(--bg);color:var(--text)}
footer{color:var(--muted);font-size:.875rem;text-align:center}
@media print{body{background:#fff}.card{border:0}}
`;
