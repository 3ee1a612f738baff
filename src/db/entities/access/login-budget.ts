import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
  name: 'LoginBudget',
  tableName: 'login_budgets',
  properties: {
    key: p.string().length(64).primary(),
    attempts: p.array().columnType('bigint[]'),
    endsAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'login_budgets_ends_at_index', properties: ['endsAt'] }],
});

/**
 * The recent attempts to sign in of one address or for one
 * account, as Unix times in milliseconds. The key is a hash.
 */
export class LoginBudget extends schema.class {}
schema.setClass(LoginBudget);
