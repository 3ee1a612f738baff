const CONTROLS = /\p{Cc}/gu;
/** What JSON itself does not escape (it does all below a space), and where some readers end a line. */
const LEFT_IN_JSON = /[\u007f-\u009f\u2028\u2029]/g;

/**
 * Text from others for one line of a terminal: each control character, which could move
 * the cursor, colour or end the line, becomes a dot.
 */
export function harmless(text: string): string {
  return text.replace(CONTROLS, '·');
}

/** One line of JSON for the same terminal: the same data when it is parsed. */
export function harmlessJson(json: string): string {
  return json.replace(LEFT_IN_JSON, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** An object as the one line that `--json` promises, without control characters. */
export function jsonLine(value: Readonly<Record<string, unknown>>): string {
  return `${harmlessJson(JSON.stringify(value))}\n`;
}
