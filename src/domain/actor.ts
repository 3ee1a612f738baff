/**
 * Who changes something, and from where: an operator by the name that they give and the
 * host of their command line, or a signed-in user or an API key and the network that their
 * request came from. `from` is null where it is no longer known.
 */
export type Actor =
  | { readonly kind: 'operator'; readonly name: string; readonly from: string | null }
  | { readonly kind: 'user'; readonly userId: string; readonly from: string }
  | { readonly kind: 'key'; readonly keyId: string; readonly from: string };
