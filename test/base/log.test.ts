import { expect } from 'chai';
import { componentLogger, createLogger, hideInText } from '../../src/base/log.ts';

function capture(): {
  lines: () => Record<string, unknown>[];
  text: () => string;
  log: ReturnType<typeof createLogger>;
} {
  const written: string[] = [];
  const log = createLogger({ level: 'debug', destination: { write: (line: string) => written.push(line) } });
  return { log, text: () => written.join(''), lines: () => written.map((line) => JSON.parse(line)) };
}

const SECRET = 'hunter2hunter2';
const SECRET_NAMES = (
  'authorization Authorization x-api-key apiKey api_key TRON_API_KEY cookie set-cookie secret webhook_secret ' +
  'webhookSecret password PASSWORD passphrase key privateKey SECRETS_KEY mnemonic phrase seed session token'
).split(' ');

describe('log', () => {
  it('hides members with the name of a secret, in any spelling and at any depth', () => {
    for (const name of SECRET_NAMES) {
      const { log, text } = capture();
      log.info({ [name]: SECRET }, 'flat');
      log.info({ request: { headers: [{ [name]: SECRET }] } }, 'deep');
      log.info({ [name]: { inner: SECRET } }, 'object');
      log
        .child({ [name]: SECRET, bound: { [name]: SECRET } })
        .child({ [name]: SECRET })
        .info('child');
      log.error(
        { err: Object.assign(new Error('failed'), { [name]: SECRET, config: { [name]: SECRET } }) },
        'error',
      );
      log.error(
        Object.assign(new Error('failed'), { cause: Object.assign(new Error('inner'), { [name]: SECRET }) }),
      );
      log.info('format %o', { [name]: SECRET });
      expect(text(), name).not.to.contain(SECRET);
      expect(text().match(/\[hidden\]/g)?.length, name).to.be.greaterThan(6);
    }
  });

  it('hides tokens, extended private keys and user information inside texts, wherever they stand', () => {
    const texts = [
      `sk_live_${SECRET}`,
      `sk_test_${SECRET}`,
      `whsec_${SECRET}+/=`,
      `https://pay.example.com/set-password#${SECRET}`,
      `postgres://gateway:${SECRET}@db:5432/x`,
      `xprv9s21ZrQH143K3${SECRET.repeat(8).replaceAll('0', '1')}`,
    ];
    for (const secret of texts) {
      const { log, text } = capture();
      log.info(`a message with ${secret} in it`);
      log.info({ note: `a note with ${secret}`, list: [secret] }, 'm');
      log.info('formatted %s', secret);
      log.error(new Error(`connect ${secret} failed`));
      log.error({ err: new Error(`connect ${secret} failed`) });
      log.error({ err: new Error('outer', { cause: new Error(secret) }) }, 'm');
      log.child({ url: secret }).info('m');
      expect(text(), secret).not.to.contain(SECRET);
      expect(text()).to.contain('[hidden]');
    }
  });

  it('leaves what operators need', () => {
    const plain = 'deposit 0xabc of 12.5 USDT at https://example.com/a@b is completed';
    expect(hideInText(plain)).to.equal(plain);
    const { log, lines } = capture();
    componentLogger(log, 'watcher').info(
      { network: 'bsc', amount: 12n, transaction_hash: '0xab', payment_token: 'USDT', at: new Date(0) },
      'deposit %s',
      'found',
    );
    const [line] = lines();
    expect(line).to.include({
      level: 'info',
      component: 'watcher',
      network: 'bsc',
      amount: '12',
      transaction_hash: '0xab',
      payment_token: 'USDT',
    });
    expect(line).to.include({ msg: 'deposit found', at: '1970-01-01T00:00:00.000Z' });
    expect(line?.['time']).to.match(/^\d{4}-\d\d-\d\dT/);
  });

  it('cuts what is long before it looks for secrets, and shows nothing of one that the cut goes through', () => {
    // Where a look took more than linear time, this would not end.
    for (const run of [
      'a',
      'a:',
      '://',
      'sk_live_',
      'xprv',
      'whsec_ ',
      'set-password#',
      '@',
      'a+',
      'http://x',
    ])
      expect(hideInText(run.repeat(1_000_000 / run.length)).length, run).to.be.below(2_100);
    const secrets = [
      `postgres://gateway:${'Hunter2'.repeat(20)}@db`,
      `sk_live_${'Hunter2'.repeat(7)}`,
      `xprv${'9sHunter2'.repeat(12)}`,
    ];
    for (let before = 1_600; before < 2_100; before += 1)
      for (const secret of secrets) {
        const text = `${'-'.repeat(before)} ${secret} and more`.padEnd(5_000, ' x');
        expect(hideInText(text), `${secret} behind ${before}`).not.to.contain('unter2');
      }
    expect(hideInText(`${'-'.repeat(5_000)}`)).to.match(/^-{1800}… \[3200 more characters\]$/);
  });
});
