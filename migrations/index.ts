import { Migration20261121000000_initial } from './Migration20261121000000_initial.ts';

/** Every migration in order. A released one is never edited: a change is a new class at the end. */
export const MIGRATIONS = [{ name: 'Migration20261121000000_initial', class: Migration20261121000000_initial }];
