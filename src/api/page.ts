import { DEFAULT_LIMIT, type PageMembers } from '../contract/common.ts';
import type { PageOf } from '../services/lists/page.ts';
import type { PageRequest } from '../services/lists/query.ts';

/** What the services take for a list's page. */
export function pageOf(query: PageMembers): PageRequest {
  const { limit = DEFAULT_LIMIT, page, starting_after: startingAfter, ending_before: endingBefore } = query;
  return { limit, page, startingAfter, endingBefore };
}

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
