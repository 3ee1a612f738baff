/** Thrown for work that took longer than those who wait for it do. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/**
 * The result of the work, or what `late` gives or throws when the work takes longer than `ms`. Work that is
 * under way then ends by its own limits, and its outcome is ignored.
 */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work, timeIsUp.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
