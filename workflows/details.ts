/** Longer texts are cut: details are for a glance. */
const MOST = 1_000;
/** What means something in Markdown, or makes a link of what follows it. */
const MARKS = /[\\`*_{}[\]()#!|<>~&:.@]/g;
/** Where renderers see an address in a text, also one whose signs stand behind a backslash. */
const ADDRESSES = /(?<=:)(?=\/\/)|(?<=www)(?=\.)|(?<=@)/gi;

/**
 * A text as it stands, in the Markdown of the Web UI, which a person with an operator's rights looks at: what
 * it says may come from elsewhere, so nothing in it is a link, a picture or a heading.
 */
export function asText(text: string): string {
  return text
    .slice(0, MOST)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(ADDRESSES, '\u200b')
    .replace(MARKS, '\\$&');
}

/** A link of our own making; nothing where the address is none of a page. */
export function asLink(name: string, url: string): string {
  return /^https?:\/\/[\w.:%/#-]{1,300}$/.test(url) ? `[${name}](${url})` : '';
}

/** Paragraphs in their order, without those that say nothing. */
export function paragraphs(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
