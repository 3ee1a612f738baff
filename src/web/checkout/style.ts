/**
 * What only the checkout has. What to send, where and for how long still fits a phone's first screen, so its
 * spaces are narrow there.
 */
export const CHECKOUT_STYLE = `
main{padding-top:var(--s3)}
.order{display:flex;gap:var(--s3);justify-content:space-between;align-items:baseline;margin:0 0 var(--s2)}
.order>div{min-width:0}
.order h1,.order p{margin:0}
.description{max-height:none;overflow:visible}
.asked{flex:none;font-weight:600}
.state{padding:var(--s2) var(--s4);margin-bottom:var(--s3)}
.state{display:grid}.state>div{grid-area:1/1;min-width:0}.room{visibility:hidden}
.state p{margin:0}
.state progress{appearance:none;-webkit-appearance:none;display:block;width:100%;height:.5rem;border:0;border-radius:999px;overflow:hidden;margin:var(--s1) 0;background:var(--card);color:var(--info)}
progress::-webkit-progress-bar{background:var(--card)}
progress::-webkit-progress-value{background:var(--info)}
progress::-moz-progress-bar{background:var(--info)}
.clock{display:inline-block;min-width:5.2em;font-variant-numeric:tabular-nums;font-weight:600}
.until{display:inline-block;font-size:var(--text-s)}
#pay{padding:var(--s3)}
#pay h2{margin-bottom:var(--s2)}
@media (max-width:26rem){main{padding-top:var(--s1)}.state{padding:var(--s1) var(--s3);margin-bottom:var(--s2)}#pay{padding:var(--s2) var(--s3)}#pay h2{position:absolute;clip-path:inset(50%)}}
.ways{display:grid;gap:var(--s2);list-style:none;margin:0 0 var(--s3);padding:0}
.ways a{display:block;min-height:var(--target);padding:var(--s1) var(--s2);border:1px solid var(--edge);border-radius:var(--r1);text-decoration:none;color:var(--text);line-height:1.35}
.ways strong{display:block}
.ways span{font-size:var(--text-s)}
.ways a[aria-current]{border-color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent)}
.ways a[aria-current] strong::before{content:"✓ ";content:"✓ "/"";color:var(--accent)}
.send{margin:0 0 var(--s3)}
.send dd{margin:0 0 var(--s2)}
.exact{font-weight:650;font-size:var(--text-l)}
.exact .mono{font-size:var(--text-xl);line-height:1.2}
.exact.long,.exact.long .mono{font-size:var(--text-m);line-height:1.25}
.send .copy{min-height:var(--target)}
.groups span{margin-inline-end:.375em}
.notice ul{margin:0;padding:0 0 0 1.125rem;font-size:var(--text-s)}
.rows+p{margin-top:var(--s3)}
#receipt dl{display:grid;grid-template-columns:minmax(5rem,max-content) 1fr;gap:var(--s2) var(--s4);align-items:baseline}
#receipt dd{margin:0;min-width:0}
figure{margin:0 0 var(--s3);text-align:center}
figure .qr{margin-bottom:var(--s2)}
.stamped{position:relative}
.stamp{position:absolute;inset:5.5rem 0 auto;width:max-content;margin:0 auto;padding:var(--s1) var(--s4);border:3px solid var(--warn);border-radius:var(--r1);background:var(--warn-bg);color:var(--warn);font-size:var(--text-xxl);font-weight:700;line-height:1.2;transform:rotate(-8deg)}
details{border-top:1px solid var(--line)}
summary{font-weight:600;line-height:1.75rem}
.shares{display:flex;flex-wrap:wrap;gap:var(--s2)}
.shares button{flex:1 1 auto}
.back{text-align:center}
.back a{display:inline-block;min-height:var(--target);padding:.55rem 0}
.back a.button{display:block;padding:.55rem var(--s4)}
.rehearsal{border:3px dashed var(--warn);border-radius:var(--r1);background:var(--warn-bg);color:var(--warn);padding:.125rem var(--s3);margin:0 0 var(--s2);font-size:var(--text-s);font-weight:650;text-align:center}
.languages{display:flex;gap:var(--s4);justify-content:center;list-style:none;margin:0;padding:0}
.languages>*{padding:.75rem 0}
footer a{display:inline-block;padding:.75rem 0}
.languages>*>a{margin:-.75rem 0}
@media (forced-colors:active){.ways a[aria-current]{outline:2px solid}.state progress{border:1px solid}}
@media print{.state{padding:0}.rehearsal{border-color:#000}}
`;
