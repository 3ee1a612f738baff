/** The rules of the components in `src/web/parts`, in their order. */
export const PARTS = `
.card{background:var(--card);border:1px solid var(--line);border-radius:var(--r2);padding:var(--s5);margin:0 0 var(--s4)}
.card>:last-child{margin-bottom:0}
.muted{color:var(--muted);font-size:.9375rem}
.amount{font-variant-numeric:tabular-nums;white-space:nowrap}
.amount.big{font-size:var(--text-xxl);font-weight:650;line-height:1.2;margin:0 0 var(--s1);white-space:normal}
.description{white-space:pre-line;max-height:14rem;overflow-y:auto}
.notice{border-radius:var(--r1);padding:var(--s3) var(--s4);margin:0 0 var(--s4)}
.notice strong{display:block}
.notice>:last-child{margin-bottom:0}
.good{background:var(--good-bg);color:var(--good)}
.warn{background:var(--warn-bg);color:var(--warn)}
.bad{background:var(--bad-bg);color:var(--bad)}
.info{background:var(--info-bg);color:var(--info)}
.plain{background:var(--bg);border:1px solid var(--line)}
.notice a{color:inherit}
.badge{display:inline-block;border-radius:999px;padding:.0625rem .625rem;font-size:var(--text-s);font-weight:600;white-space:nowrap}
.bar{display:block;height:.5rem;border-radius:999px;background:var(--line);overflow:hidden;margin:var(--s2) 0}
.bar>span{display:block;height:100%;background:var(--accent);border-radius:inherit}
.choice{display:flex;flex-wrap:wrap;gap:var(--s2);list-style:none;margin:0 0 var(--s4);padding:0}
.choice a{display:inline-block;min-height:var(--target);padding:.55rem var(--s4);border:1px solid var(--edge);border-radius:var(--r1);text-decoration:none;color:var(--text);background:var(--card)}
.choice a[aria-current]{border-color:var(--accent);background:var(--accent);color:var(--on-accent);font-weight:600}
.mono{font-family:var(--mono);font-size:.9375rem;user-select:all;-webkit-user-select:all}
.copy{display:flex;gap:var(--s2);align-items:center;justify-content:space-between}
.copy>:first-child{min-width:0}
.copy button{flex:none;font-size:var(--text-s)}
html:not(.script) [data-copy]{visibility:hidden}
@media (scripting:none){[data-copy]{display:none}}
.qr{display:block;width:100%;max-width:15rem;height:auto;margin:0 auto var(--s4);border-radius:var(--r1)}
.rows{list-style:none;margin:0;padding:0}
.rows li{border-top:1px solid var(--line);padding:var(--s3) 0}
.rows li:first-child{border-top:0;padding-top:0}
.rows li:last-child{padding-bottom:0}
.field{margin:0 0 var(--s4)}
.field .hint{color:var(--muted);font-size:var(--text-s);margin:0 0 var(--s1)}
.field .error{color:var(--bad);font-weight:600;font-size:var(--text-s);margin:var(--s1) 0 0}
.field [aria-invalid]{border-color:var(--bad);border-width:2px}
.check{display:flex;gap:var(--s2);align-items:center;min-height:var(--target);font-weight:400;margin:0}
.table{width:100%;border-collapse:collapse;margin:0 0 var(--s4)}
.table th{text-align:start;font-size:var(--text-s);font-weight:600;color:var(--muted);padding:var(--s2) var(--s3);border-bottom:1px solid var(--line);white-space:nowrap}
.table td{padding:var(--s3);border-bottom:1px solid var(--line);vertical-align:top}
.table .end{text-align:end}
.table tr:last-child td{border-bottom:0}
@media (max-width:47.99rem){.table,.table tbody,.table tr,.table td{display:block}.table thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.table tr{border-bottom:1px solid var(--line);padding:var(--s3) 0}.table tr:last-child{border:0}.table td{border:0;padding:.125rem 0;display:flex;gap:var(--s3);justify-content:space-between}.table td a{display:inline-block;min-height:var(--target);padding:.625rem 0}.table td:has(a)::before{padding:.625rem 0}
.table caption{display:block}.table td::before{content:attr(data-label);color:var(--muted);font-size:var(--text-s);flex:none}.table td>*{text-align:end;min-width:0}}
.empty{text-align:center;padding:var(--s6) var(--s4)}
.pager{display:flex;flex-wrap:wrap;gap:var(--s3);align-items:center;justify-content:space-between;margin:0 0 var(--s4)}
.pager div{display:flex;gap:var(--s2)}
`;
