/**
 * Who changes something, and from where: an operator by the name that he
 * gives and the host of his command line, or a signed-in user and the network
 * that his request came from. `from` is null where it is not known any more.
 */
export type Actor =
  | { readonly kind: 'operator'; readonly name: string; readonly from: string | null }
  | { readonly kind: 'user'; readonly userId: string; readonly from: string };
