import { hash } from 'node:crypto';
import type { TxDeps } from '../deps.ts';
import { newToken } from '../token.ts';

/** What every token of a customer's page looks like. */
export const PAGE_TOKEN = /^ap_[A-Za-z0-9]{32}$/;

/** By what a page is found; it opens nothing itself, and of 190 random bits nobody finds the token to it. */
export const pageHash = (token: string): string => hash('sha256', token);

/** A new token of a customer's page, and what is kept of it: its hash, and itself sealed. */
export function newPage({ secretBox }: Pick<TxDeps, 'secretBox'>, customerId: string) {
  const token = `ap_${newToken(32)}`;
  return { token, hash: pageHash(token), sealed: secretBox.seal(token, customerId) };
}
