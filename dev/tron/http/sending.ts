// What goes into the chain: transactions to sign, and signed ones.
import { showContent } from '../shapes.ts';
import { rawOfJson, readSigned, readWhole } from '../transactions.ts';
import { Refusal, type Signed } from '../types.ts';
import type { Asked, Handler } from './handler.ts';
import { amountIn, type Body, hexIn, isVisible, JavaError, keyIn } from './requests.ts';
import { triggerIn } from './state.ts';
import { nonZero, unsigned, unsignedCall } from './unsigned.ts';

const NULL_POINTER = [
  'java.lang.NullPointerException',
  'Cannot invoke "com.alibaba.fastjson.JSONObject.getJSONArray(String)" because "<local3>" is null',
] as const;
const VALIDATE = 'org.tron.core.exception.ContractValidateException';
const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

/** Only `raw_data` and the signatures count: whatever the other members say is ignored. */
const broadcastTransaction: Handler = async (asked) => {
  const signed = signedIn(asked.body);
  return await broadcast(asked, signed, isVisible(asked.body));
};

function signedIn(body: Body): Signed {
  const raw = body['raw_data'];
  if (typeof raw !== 'object' || raw === null) throw new JavaError(...NULL_POINTER);
  const signatures = (body['signature'] ?? []) as readonly string[];
  try {
    return readSigned(rawOfJson(raw as Record<string, unknown>, isVisible(body)), signatures);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new JavaError('java.lang.IllegalArgumentException', (error as Error).message);
  }
}

async function broadcast({ chain }: Asked, signed: Signed, visible: boolean): Promise<object> {
  try {
    await chain.broadcast(signed);
    return { result: true, txid: signed.id };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { code: error.code, txid: signed.id, message: visible ? error.message : hexOf(error.message) };
  }
}

const broadcastHex: Handler = async (asked) => {
  const signed = readWhole(Buffer.from(hexIn(asked.body, 'transaction'), 'hex'));
  const visible = isVisible(asked.body);
  const answer = (await broadcast(asked, signed, visible)) as { result?: true };
  const transaction = JSON.stringify({
    raw_data_hex: signed.raw.toString('hex'),
    signature: signed.signatures,
  });
  return answer.result
    ? { ...answer, code: 'SUCCESS', message: '', transaction }
    : { ...answer, transaction };
};

/** An unsigned transfer of TRX. Throws JavaError where it could not be executed. */
const createTransaction: Handler = async (asked) => {
  const { body, chain } = asked;
  const [owner, to] = [keyIn(body, 'owner_address'), keyIn(body, 'to_address')];
  const amount = amountIn(body, 'amount');
  if (!owner || !to) throw new JavaError(VALIDATE, `Invalid ${owner ? 'toAddress' : 'ownerAddress'}!`);
  const value = nonZero({ owner_address: `41${owner}`, to_address: `41${to}`, amount });
  const made = unsigned(chain, { type: 'TransferContract', value });
  if (!chain.accounts.get(owner))
    throw new JavaError(VALIDATE, 'Validate TransferContract error, no OwnerAccount.');
  await validate(asked, made);
  return { visible: isVisible(body), ...showContent(made, isVisible(body)) };
};

/** Throws JavaError for what the chain would refuse; nothing is executed. */
async function validate({ chain }: Asked, made: Signed): Promise<void> {
  try {
    await chain.rehearse(made);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new JavaError(VALIDATE, error.message.replace(/^Contract validate error : /, ''));
  }
}

/** An unsigned call of a contract, which is not executed. */
const triggerContract: Handler = async ({ body, chain }) => {
  const visible = isVisible(body);
  const trigger = triggerIn(body);
  if (!trigger.to || (await chain.evm.code(trigger.to, 'pending')) === '') {
    const words = 'No contract or not a valid smart contract';
    return { result: { code: 'CONTRACT_VALIDATE_ERROR', message: hexOf(words) } };
  }
  const made = unsignedCall(chain, trigger, amountIn(body, 'fee_limit'));
  return { result: { result: true }, transaction: { visible, ...showContent(made, visible) } };
};

/** What the full node takes, by the last part of its path. */
export const SENDING_HANDLERS: Readonly<Record<string, Handler>> = {
  broadcasttransaction: broadcastTransaction,
  broadcasthex: broadcastHex,
  createtransaction: createTransaction,
  triggersmartcontract: triggerContract,
};
