import * as parse from '../parsers.ts';
import { variable } from '../variable.ts';

/** How long a browser stays signed in. */
export const SESSION_VARIABLES = {
  SESSION_IDLE: variable({
    group: 'sessions',
    parser: parse.duration('1s', '7d'),
    default: '30m',
    example: '30m',
    about: 'A session that is not used for this long has ended.',
  }),
  SESSION_MAX: variable({
    group: 'sessions',
    parser: parse.duration('1s', '90d'),
    default: '12h',
    example: '12h',
    about: 'A session ends this long after the login, however much it is used. Not below SESSION_IDLE.',
  }),
} as const;
