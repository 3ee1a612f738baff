/**
 * What the reference page adds to the common style: it is wide, with its
 * contents at the side where there is room.
 */
export const DOCS_STYLE = `
main{max-width:80rem}
html{scroll-padding-top:1rem}
h1{font-size:1.75rem;margin:0 0 1rem}
h2{font-size:1.375rem;margin:2.5rem 0 .5rem}
h3{font-size:1.0625rem;margin:0 0 .5rem}
h4{font-size:.9375rem;margin:1.25rem 0 .5rem}
nav{font-size:.9375rem}
nav ul{list-style:none;margin:0 0 .75rem;padding:0}
nav li{padding:.125rem 0}
nav strong{display:block;margin-top:.75rem}
nav a,h2 a,h3 a{text-decoration:none}
nav a:hover,h2 a:hover,h3 a:hover{text-decoration:underline}
h2 a,h3 a{color:inherit}
.verb{font-weight:700}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.875rem}
pre{background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:.75rem;margin:0 0 1rem;white-space:pre-wrap;max-height:30rem;overflow:auto}
pre.call{user-select:all;-webkit-user-select:all}
table{width:100%;border-collapse:collapse;margin:0 0 1rem;font-size:.9375rem}
th,td{text-align:left;vertical-align:top;padding:.375rem .75rem .375rem 0;border-top:1px solid var(--line)}
th{font-size:.875rem;color:var(--muted);border-top:0;white-space:nowrap}
td{overflow-wrap:break-word}
td code,td p{overflow-wrap:anywhere}
td p:last-child{margin-bottom:0}
details{margin:0 0 .75rem}
summary{cursor:pointer;padding:.25rem 0}
@media (max-width:40rem){
thead{display:none}
table,tbody,tr,td{display:block}
tr{border-top:1px solid var(--line);padding:.5rem 0}
td{border:0;padding:0;overflow-wrap:anywhere}
}
@media (min-width:64rem){
.docs{display:grid;grid-template-columns:17rem minmax(0,1fr);gap:2rem}
nav{position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow-y:auto}
}
@media print{nav{display:none}pre{max-height:none}}
`;
