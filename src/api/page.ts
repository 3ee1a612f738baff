import type { PageOf } from '../services/lists/page.ts';

/** The body of a list's answer. */
export function listBody<T>(page: PageOf<T>) {
  const { limit, total } = page;
  const atLeast = page.totalIsAtLeast ? { total_is_at_least: true as const } : {};
  return {
    data: [...page.rows],
    has_more: page.hasMore,
    pagination: { page: page.page, limit, total, ...atLeast, total_pages: Math.ceil(total / limit) },
  };
}
