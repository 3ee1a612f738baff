/** Shown of an example in several languages: the chosen one; where the browser cannot choose, all of them. */
const LANGUAGES = ['sh', 'js', 'ts', 'python', 'php'];
const CHOSEN = LANGUAGES.map((name) => `.tabs:has(input[value=${name}]:checked)>pre[data-lang=${name}]`).join(
  ',',
);

/**
 * What the documentation adds to the common style: it is wide, with the way to every page at the side where
 * there is room, and folded where there is none.
 */
export const DOCS_STYLE = `
main{max-width:56rem;width:100%;padding-top:var(--s4)}
html{scroll-padding-top:1rem}
h1{font-size:1.75rem;margin:0 0 var(--s4)}
h2{font-size:1.375rem;margin:2.5rem 0 var(--s2)}
h3{font-size:1.0625rem;margin:var(--s6) 0 var(--s2)}
h4{font-size:.9375rem;margin:var(--s5) 0 var(--s2)}
.card>h2:first-child,.card>h3:first-child{margin-top:0}
h2 a,h3 a{color:inherit;text-decoration:none}
h2 a:hover,h3 a:hover{text-decoration:underline}
.top{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);align-items:center;justify-content:space-between;background:var(--card);border-bottom:1px solid var(--line);padding:var(--s2) var(--s4)}
.brand{font-weight:650;color:var(--text);text-decoration:none;display:flex;align-items:center;min-height:var(--target)}
.top form{position:relative;flex:0 1 20rem;min-width:min(12rem,100%)}
.menu{background:var(--card);border-bottom:1px solid var(--line)}
.menu summary{padding:var(--s2) var(--s4);font-weight:600}
.menu:not([open])+nav{display:none}
nav{font-size:.9375rem;padding:var(--s3) var(--s4);background:var(--card);border-bottom:1px solid var(--line)}
nav ul{list-style:none;margin:0 0 var(--s4);padding:0}
nav ul ul{margin:0 0 var(--s2) var(--s3);font-size:.875rem}
nav a{display:block;padding:.3125rem var(--s2);border-radius:var(--r1);color:var(--text);text-decoration:none}
nav a:hover{text-decoration:underline}
nav a[aria-current]{background:var(--info-bg);color:var(--info);font-weight:600}
nav .group{font-weight:600}
.verb{font-weight:700;font-size:.8125em;border-radius:4px;padding:.0625rem .375rem;white-space:nowrap}
.verb.get{background:var(--info-bg);color:var(--info)}
.verb.post{background:var(--good-bg);color:var(--good)}
.verb.put{background:var(--warn-bg);color:var(--warn)}
.verb.delete{background:var(--bad-bg);color:var(--bad)}
code,pre{font-family:var(--mono);font-size:.875rem}
pre{background:var(--card);border:1px solid var(--line);border-radius:var(--r1);padding:var(--s3);margin:0;white-space:pre-wrap}
.card pre{background:var(--bg)}
.code,.tabs{position:relative;margin:0 0 var(--s4)}
.tabs>[role=group]{display:flex;flex-wrap:wrap;border-bottom:1px solid var(--line);margin:0 0 var(--s2);padding-inline-end:5rem}
.tabs label{position:relative;margin:0;padding:var(--s2) var(--s3);font-size:var(--text-s);color:var(--muted);cursor:pointer;min-height:2.25rem}
.tabs input{position:absolute;inset:0;width:100%;height:100%;min-height:0;opacity:0;cursor:pointer}
.tabs label:has(:checked){color:var(--accent);box-shadow:inset 0 -2px var(--accent)}
.tabs label:has(:focus-visible){outline:3px solid var(--accent);outline-offset:-2px;border-radius:var(--r1)}
@supports selector(:has(*)){.tabs>pre{display:none}${CHOSEN}{display:block}}
button.copier{position:absolute;top:.25rem;right:.25rem;min-height:1.75rem;padding:.125rem var(--s2);font-size:var(--text-s);font-weight:400}
.tabs>button.copier{top:.125rem;right:0}
table{width:100%;border-collapse:collapse;margin:0 0 var(--s4);font-size:.9375rem}
th,td{text-align:start;vertical-align:top;padding:.375rem var(--s3) .375rem 0;border-top:1px solid var(--line)}
th{font-size:var(--text-s);color:var(--muted);border-top:0;white-space:nowrap}
td{overflow-wrap:break-word}
td code,td p{overflow-wrap:anywhere}
td p:last-child{margin-bottom:0}
details{margin:0 0 var(--s3)}
.menu{margin:0}
figure{margin:0 0 var(--s4)}
.states{display:block;width:100%;max-width:27rem;height:auto;margin:0 auto}
.states line{stroke:var(--muted);stroke-width:1.25;fill:none}
.states marker path{fill:context-stroke}
.states .happy,.states .happy line{stroke:var(--accent);stroke-width:2.25}
.states circle{fill:var(--accent);stroke:none}
.states rect{fill:var(--card);stroke:var(--edge);stroke-width:1.25}
.states .final rect{stroke-width:2.5}
.states text{font:600 12.5px var(--mono);fill:var(--text);text-anchor:middle;dominant-baseline:central}
mark{background:var(--warn-bg);color:var(--warn);border-radius:3px}
#results,.found{list-style:none;margin:0;padding:0}
#results li,.found li{border-top:1px solid var(--line)}
#results a,.found a{display:block;padding:var(--s3) var(--s2);color:var(--text);text-decoration:none}
.found a:focus-visible{outline-offset:-3px}
#results a:hover strong,.found a:hover strong{text-decoration:underline}
.where{color:var(--muted);font-size:var(--text-s);display:block}
.excerpt{display:block;font-size:.9375rem}
.found{position:absolute;z-index:3;inset-inline-end:0;top:calc(100% + .25rem);width:min(30rem,calc(100vw - 2rem));max-height:70vh;overflow-y:auto;background:var(--card);border:1px solid var(--edge);border-radius:var(--r1);box-shadow:0 8px 24px #0003}
@media (max-width:40rem){
thead{display:none}
table,tbody,tr,td{display:block}
tr{border-top:1px solid var(--line);padding:var(--s2) 0}
td{border:0;padding:0;overflow-wrap:anywhere}
.top form{flex:1 1 100%}
.found{inset-inline:0;width:auto}
}
@media screen and (min-width:64rem){
html{scroll-padding-top:5rem}
body{display:grid;grid-template-columns:19rem minmax(0,1fr);grid-template-rows:auto 1fr}
.top{grid-column:1/-1;position:sticky;top:0;z-index:2}
.menu,.menu:not([open]){display:none}
.menu:not([open])+nav,nav{display:block;grid-column:1;position:sticky;top:3.875rem;align-self:start;height:calc(100vh - 3.875rem);overflow-y:auto;border:0;border-inline-end:1px solid var(--line)}
main{grid-column:2;padding:var(--s6) var(--s6) 4rem;margin:0 auto}
}
@media print{.top,.menu{display:none}.card{break-inside:auto}pre,tr,figure{break-inside:avoid}h2,h3,h4{break-after:avoid}a{color:inherit}
details::details-content{content-visibility:visible;block-size:auto}}
`;
