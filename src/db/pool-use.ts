import type { Orm } from './orm.ts';

/** Connections of one pool at this moment. */
export type PoolUse = {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
  readonly size: number;
};

/** How a pool is used, counted in this process without asking the server. */
export async function poolUse(orm: Orm): Promise<PoolUse> {
  const { totalCount, idleCount, waitingCount, options } = await orm.em.getConnection().getNativeClient();
  return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount, size: options.max };
}
