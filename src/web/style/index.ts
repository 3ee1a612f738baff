import { BASE } from './base.ts';
import { PARTS } from './parts.ts';
import { TOKENS } from './tokens.ts';

/**
 * The one stylesheet of all pages. It is part of the document, allowed by its hash: there
 * is no second request, and none to anybody else.
 */
export const STYLE = `${TOKENS}${BASE}${PARTS}`;
