// What two answers of nodes have in common where only their figures differ.

const HEX_WORDS = new Set(['message', 'resMessage', 'note']);
/** What a contract returns is its own affair. */
const RETURNED = new Set(['contractResult', 'constant_result', 'data', 'parameter', 'bytecode']);

/** A value without its figures: which members there are, of which kind, and every word of the protocol. */
export function shapeOf(value: unknown, ignored: readonly string[] = [], name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => shapeOf(item, ignored, name));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([member]) => !ignored.includes(member));
    const shapes = members.map(([member, one]) => [member, shapeOf(one, ignored, member)] as const);
    return Object.fromEntries(shapes.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  return typeof value === 'string' ? wordsOf(value, name) : value;
}

function wordsOf(text: string, name: string): string {
  if (RETURNED.has(name)) return 'hex';
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(text);
  if (isHex && HEX_WORDS.has(name))
    return `hex of: ${wordsOf(Buffer.from(text, 'hex').toString('utf8'), '')}`;
  if (/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return 'base58';
  if (isHex) return [4, 16, 40, 42, 64, 130].includes(text.length) ? `hex ${text.length}` : 'hex';
  return text
    .replace(/T[1-9A-HJ-NP-Za-km-z]{33}/g, '<base58>')
    .replace(/[0-9a-f]{32,}/g, '<hex>')
    .replace(/'\w+' operation/g, '<operation>')
    .replace(/\d+/g, '#');
}
