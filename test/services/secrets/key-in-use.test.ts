import { expect } from 'chai';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { requireKeyInUse } from '../../../src/services/secrets/key-in-use.ts';
import { testDeps } from '../../support/gateway.ts';

const [ONE, TWO, THREE] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];

describe('the SECRETS_KEY of a database', function () {
  this.timeout(60_000);

  it('is that of the first process; who has another one is refused, until it is changed as documented', async () => {
    const database = await migratedDatabase();
    const deps = await testDeps(database.url, []);
    const starts = async (key: Buffer, previous?: Buffer) =>
      await requireKeyInUse({ orm: deps.orm, secretBox: createSecretBox(key, previous) }).then(
        () => 'starts',
        (error: Error) => error.message.slice(0, 34),
      );
    try {
      // Two that start at once over a new database: one of them only.
      const both = await Promise.all([starts(ONE), starts(TWO)]);
      const [first, other] = both[0] === 'starts' ? [ONE, TWO] : [TWO, ONE];
      const refused = 'SECRETS_KEY is not the key that th';
      expect(both).to.have.members(['starts', refused]);
      const turns: [Parameters<typeof starts>, string][] = [
        [[first], 'starts'],
        [[other], refused],
        [[other, THREE], refused],
        // In turn, as docs/operations.md tells: each knows both keys, then they are swapped.
        [[first, other], 'starts'],
        [[other, first], 'starts'],
        [[first, other], 'starts'],
        [[other, first], 'starts'],
        [[other], 'starts'],
        [[first], refused],
      ];
      for (const [keys, says] of turns) expect(await starts(...keys)).to.equal(says);
    } finally {
      await deps.orm.close(true);
      await database.drop();
    }
  });
});
