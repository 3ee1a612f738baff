import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, type Token } from 'marked';

/** A block of code of a document, with the heading and the bold words that it stands under. */
export type Block = {
  readonly document: string;
  readonly heading: string;
  readonly language: string;
  readonly text: string;
  /** The line in which it begins. */
  readonly line: number;
};

/** The blocks of code of a document below the folder `root`, in order. Those in lists count too. */
export function blocksOf(root: string, document: string): Block[] {
  const source = readFileSync(join(root, document), 'utf8');
  const found: Block[] = [];
  let heading = '';
  let from = 0;
  const look = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (token.type === 'heading') heading = String(token['text']);
      if (token.type === 'code') {
        from = source.indexOf(token.raw, from);
        const line = source.slice(0, from).split('\n').length;
        found.push({ document, heading, language: token['lang'] ?? '', text: token['text'], line });
        from += token.raw.length;
      }
      if (token.type === 'list') look(token['items'] as Token[]);
      if (token.type === 'list_item') look(token['tokens'] as Token[]);
    }
  };
  look(new Marked().lexer(source));
  return found;
}

/** What stands in a text for what only an answer tells: a key, a secret, an id. */
export type Values = Readonly<Record<string, string>>;

/** The text with each placeholder replaced by its value. */
export function filled(text: string, values: Values): string {
  return Object.entries(values).reduce(
    (result, [placeholder, value]) => result.replaceAll(placeholder, value),
    text,
  );
}
