import { complain, type Parser, parser } from '../config/parser.ts';
import type { ChainAddresses } from './chain.ts';

/**
 * A parser of one chain's addresses, which gives them as merchants
 * see them. `complaint` ends the sentence about every other text.
 */
export function addressVariable({ parse, format }: ChainAddresses, complaint: string): Parser<string> {
  return parser((text) => {
    const key = parse(text);
    return key === undefined ? complain(complaint) : format(key);
  });
}
