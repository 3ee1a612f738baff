/** Does a piece of work when its turn comes, none while another one runs. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Questions about single tokens that are asked together: those that come before the turn of the first are one
 * call of `askAll`, and no second one begins while one runs. A failure of it is told to all who were part
 * of it.
 */
export function createArrivals<T>(
  askAll: (tokens: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  inTurn: InTurn,
) {
  let gathering:
    | { readonly tokens: Set<string>; readonly found: Promise<ReadonlyMap<string, T>> }
    | undefined;

  const gather = () => {
    const tokens = new Set<string>();
    const found = inTurn(async () => {
      // What the process was handed at the same moment comes before this.
      await new Promise((resolve) => setImmediate(resolve));
      gathering = undefined;
      return await askAll([...tokens]);
    });
    // A turn that never came ends the gathering, too.
    found.catch(() => {
      if (gathering?.found === found) gathering = undefined;
    });
    return { tokens, found };
  };

  return {
    /** What is found about the token; undefined for nothing. */
    ask: async (token: string): Promise<T | undefined> => {
      gathering ??= gather();
      gathering.tokens.add(token);
      return (await gathering.found).get(token);
    },
  };
}
