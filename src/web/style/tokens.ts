/**
 * Colour, type, space and radius, once for all pages. A rule outside of this file names a token, never a
 * value, so that light, dark and test mode are one choice each. The contrast of every pair that is used is
 * held by the browser tests: 4.5 for text, 3 for borders of fields.
 */
export const TOKENS = `
:root{color-scheme:light dark;
--bg:#f4f5f7;--card:#fff;--text:#1b1f24;--muted:#57606a;--line:#d5dae0;--edge:#6e7781;--accent:#0b57d0;--on-accent:#fff;
--good:#12652f;--good-bg:#e3f4e8;--warn:#7a4a00;--warn-bg:#fdf1d8;--bad:#a1161f;--bad-bg:#fde9ea;--info:#174ea6;--info-bg:#e8f0fe;
--text-s:.875rem;--text-m:1rem;--text-l:1.125rem;--text-xl:1.5rem;--text-xxl:2rem;
--s1:.25rem;--s2:.5rem;--s3:.75rem;--s4:1rem;--s5:1.25rem;--s6:2rem;
--r1:8px;--r2:12px;--target:44px;
--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media screen and (prefers-color-scheme:dark){:root{
--bg:#0f1216;--card:#181c22;--text:#e8ebef;--muted:#a3adb8;--line:#343b45;--edge:#818b98;--accent:#8ab4f8;--on-accent:#0b1220;
--good:#86dba0;--good-bg:#12301d;--warn:#f3c877;--warn-bg:#33270d;--bad:#ff9c9f;--bad-bg:#3a1719;--info:#a8c7fa;--info-bg:#14284b}}
`;
