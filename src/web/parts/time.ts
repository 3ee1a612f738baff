import { type Html, html } from '../html.ts';

/**
 * A time of the API in words that hold for every time zone of the reader: "2026-11-21 20:30 UTC". With
 * script the reader's own time takes its place, with the hours ahead of UTC, and it stands in the title.
 */
export function dateTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** The same as an element that scripts and programs can read. */
export function time(iso: string): Html {
  return html`<time datetime="${iso}" data-local>${dateTime(iso)}</time>`;
}
