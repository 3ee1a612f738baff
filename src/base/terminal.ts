/**
 * Controls, line separators, and formatting characters that reorder,
 * hide or fake text. The joiners stay: scripts and emoji need them.
 */
const ACTIVE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** The same characters except those that JSON itself escapes, which are all below a space. */
const ACTIVE_IN_JSON = /(?![\u200c\u200d])[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Text from others for one line of a terminal: each character that could move the cursor,
 * colour, end the line or reorder it becomes a dot.
 */
export function harmless(text: string): string {
  return text.replace(ACTIVE, '·');
}

/** One line of JSON for the same terminal: the same data when it is parsed. */
export function harmlessJson(json: string): string {
  return json.replace(ACTIVE_IN_JSON, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** An object as the one line that `--json` promises, without characters that a terminal would act on. */
export function jsonLine(value: Readonly<Record<string, unknown>>): string {
  return `${harmlessJson(JSON.stringify(value))}\n`;
}
