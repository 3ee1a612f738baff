import { ACCOUNT } from './account/index.ts';
import { CSV } from './csv/index.ts';
import { CUSTOMERS } from './customers/index.ts';
import { DEPOSITS } from './deposits/index.ts';
import { ENDPOINTS } from './endpoints/index.ts';
import { EVENTS } from './events/index.ts';
import { LINKS } from './links/index.ts';
import { OVERVIEW } from './overview/index.ts';
import { PAYOUTS } from './payouts/index.ts';
import { SETTINGS } from './settings/index.ts';
import { SIMULATE } from './simulate/index.ts';
import type { Pages } from './visit.ts';

const SUBJECTS: readonly Pages[] = [
  OVERVIEW,
  CUSTOMERS,
  DEPOSITS,
  LINKS,
  PAYOUTS,
  ENDPOINTS,
  EVENTS,
  CSV,
  SIMULATE,
  SETTINGS,
  ACCOUNT,
];

/**
 * Every page, form and file of the dashboard, once: the router adds the modes. The first path that fits
 * counts, so a word stands before the id that it could be taken for.
 */
export const PAGES: Required<Pages> = {
  reads: SUBJECTS.flatMap(({ reads = [] }) => reads),
  forms: SUBJECTS.flatMap(({ forms = [] }) => forms),
  downloads: SUBJECTS.flatMap(({ downloads = [] }) => downloads),
};
