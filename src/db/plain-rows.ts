import type { EntityClass, EntityKey, FilterQuery } from '@mikro-orm/core';
import type { Em } from './orm.ts';

/**
 * Rows with the values that entities would have, but as plain objects that are not tracked: for lists, which
 * only show them. A page of entities costs the thread that answers everybody several times as much.
 */
export async function plainRows<Entity extends object, Field extends EntityKey<Entity>>(
  em: Em,
  entity: EntityClass<Entity>,
  where: FilterQuery<Entity>,
  fields: readonly Field[],
): Promise<Pick<Entity, Field>[]> {
  // As before every search for entities: what the caller changed and has not
  // written yet belongs to what it reads.
  await em.flush();
  const query = em
    .createQueryBuilder<Entity>(entity)
    .select([...fields] as never)
    .where(where as never);
  const rows = (await query.execute('all')) as Record<Field, unknown>[];
  const { properties } = em.getMetadata().get<Entity>(entity);
  const platform = em.getPlatform();
  for (const field of fields) {
    const type = properties[field].customType;
    if (!type) continue;
    for (const row of rows) if (row[field] !== null) row[field] = type.convertToJSValue(row[field], platform);
  }
  return rows as Pick<Entity, Field>[];
}
