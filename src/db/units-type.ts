import { Type } from '@mikro-orm/core';

/**
 * Base units of a coin (or cents): `numeric(78,0)` in the
 * database, bigint in the program. Never a float in between.
 */
export class UnitsType extends Type<bigint, string> {
  override convertToDatabaseValue(value: bigint | string): string {
    return typeof value === 'bigint' ? value.toString() : value;
  }

  override convertToJSValue(value: bigint | string): bigint {
    return typeof value === 'bigint' ? value : BigInt(value);
  }

  override getColumnType(): string {
    return 'numeric(78,0)';
  }

  override compareAsType(): string {
    return 'string';
  }
}
