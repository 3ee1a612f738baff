/** What elements look like by themselves, on every page: a page without a class is readable already. */
export const BASE = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:var(--text-m)/1.5 var(--sans);overflow-wrap:anywhere}
main{max-width:30rem;margin:0 auto;padding:var(--s5) var(--s4) 3rem}
main:focus{outline:0}
h1{font-size:var(--text-l);font-weight:600;margin:0 0 var(--s1);line-height:1.35}
h2{font-size:var(--text-m);font-weight:600;margin:0 0 var(--s2)}
p{margin:0 0 var(--s3)}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
button,.button{font:inherit;font-weight:600;display:inline-block;min-height:var(--target);padding:.55rem var(--s4);border:1px solid var(--accent);border-radius:var(--r1);background:var(--accent);color:var(--on-accent);text-decoration:none;text-align:center;cursor:pointer}
form>button:last-of-type:not(.quiet){width:100%}
button.quiet,.button.quiet{background:var(--card);border-color:var(--edge);color:var(--text)}
button.danger{background:var(--card);border-color:var(--bad);color:var(--bad)}
button[disabled]{opacity:.6;cursor:default}
time[data-local]{display:inline-block;padding-inline-end:.75em;text-align:start}
dl{margin:0 0 var(--s4)}
dt{color:var(--muted);font-size:var(--text-s)}
dd{margin:0 0 var(--s3)}
label,.label{display:block;font-weight:600;margin:0 0 var(--s1)}
input,select,textarea{font:inherit;width:100%;min-height:var(--target);padding:var(--s2) var(--s3);border:1px solid var(--edge);border-radius:var(--r1);background:var(--card);color:var(--text)}
input[type=checkbox],input[type=radio]{width:1.25rem;min-height:1.25rem;height:1.25rem;margin:0;flex:none;accent-color:var(--accent)}
fieldset{border:0;margin:0 0 var(--s4);padding:0;min-width:0}
legend{font-weight:600;padding:0;margin:0 0 var(--s1)}
summary{cursor:pointer;min-height:var(--target);padding:var(--s2) 0}
footer{color:var(--muted);font-size:var(--text-s);text-align:center}
.skip{position:absolute;left:var(--s2);top:-10rem;z-index:2;background:var(--card);padding:var(--s3) var(--s4);border-radius:var(--r1)}
.skip:focus{top:var(--s2)}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (prefers-reduced-motion:no-preference){progress::-webkit-progress-value,.bar>span{transition:width .4s}}
@media print{:root{color-scheme:light;--bg:#fff}.card{border:0;padding:0}.skip,nav,button,.no-print{display:none!important}}
`;
