// The odd contracts that only tests need, compiled once in each run (half a second). The
// token's own contract is Solidity, not a stand-in.
import { createRequire } from 'node:module';

const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;
contract Token {
  uint8 public decimals;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  event Transfer(address indexed from, address indexed to, uint256 value);
  constructor(uint8 d) { decimals = d; }
  function mint(address to, uint256 v) external { balanceOf[to] += v; emit Transfer(address(0), to, v); }
  function approve(address s, uint256 v) external returns (bool) { allowance[msg.sender][s] = v; return true; }
  function transfer(address to, uint256 v) external returns (bool) { return move(msg.sender, to, v); }
  function transferFrom(address f, address to, uint256 v) external returns (bool) { allowance[f][msg.sender] -= v; return move(f, to, v); }
  function move(address f, address to, uint256 v) private returns (bool) { balanceOf[f] -= v; balanceOf[to] += v; emit Transfer(f, to, v); return true; }
}
interface IToken { function transfer(address, uint256) external returns (bool); function transferFrom(address, address, uint256) external returns (bool); }
contract Payer {
  receive() external payable {}
  function pay(IToken t, address[] calldata to, uint256[] calldata v) external { for (uint i; i < to.length; i++) t.transfer(to[i], v[i]); }
  function pull(IToken t, address[] calldata f, address[] calldata to, uint256[] calldata v) external { for (uint i; i < to.length; i++) t.transferFrom(f[i], to[i], v[i]); }
  function payCoin(address payable to, uint256 v) external { (bool ok,) = to.call{value: v}(""); require(ok); }
  function payBoth(IToken t, address payable to, uint256 v, uint256 coin) external { t.transfer(to, v); this.payCoin(to, coin); }
  function payCoins(address payable[] calldata to, uint256[] calldata v) external { for (uint i; i < to.length; i++) this.payCoin(to[i], v[i]); }
  function payCoinAndFail(address payable to, uint256 v) external { this.payCoin(to, v); revert("no"); }
  function payCoinAndSwallow(address payable to, uint256 v) external { try this.payCoinAndFail(to, v) {} catch {} }
  // The amount is in no calldata: only a trace, or the balances before and after, can tell it.
  function passOn(address payable to) external payable { (bool ok,) = to.call{value: msg.value}(""); require(ok); }
  function payAll(address payable to) external { (bool ok,) = to.call{value: address(this).balance}(""); require(ok); }
  function borrow(Lender l, address payable to) external payable { (bool ok,) = address(l).delegatecall(abi.encodeCall(Lender.nothing, (to))); require(ok); }
  function payAndFail(IToken t, address to, uint256 v) external { t.transfer(to, v); revert("no"); }
  function payAndSwallow(IToken t, address to, uint256 v) external { try this.payAndFail(t, to, v) {} catch {} }
  // A log with any topics and any data, as only a broken or hostile contract writes it.
  function log3(bytes32 a, bytes32 b, bytes32 c, bytes calldata d) external { bytes memory m = d; assembly { log3(add(m, 32), mload(m), a, b, c) } }
  function log4(bytes32 a, bytes32 b, bytes32 c, bytes32 e) external { assembly { log4(0, 0, a, b, c, e) } }
}
contract Lender { function nothing(address payable) external payable {} }
// Pays in its constructor, and leaves everything to a beneficiary that it kept in storage when it ends.
contract Heir {
  address payable heir;
  constructor(address payable to, uint256 v, address payable h) payable { heir = h; if (v > 0) { (bool ok,) = to.call{value: v}(""); require(ok); } }
  receive() external payable {}
  function end() external { selfdestruct(heir); }
  function pay(uint256 v) external { (bool ok,) = heir.call{value: v}(""); require(ok); }
}
// The same two functions as the contract of that name on
// every chain, for tests that put it at its own address.
contract Multicall3 {
  struct Call3 { address target; bool allowFailure; bytes callData; }
  struct Result { bool success; bytes returnData; }
  function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory r) {
    r = new Result[](calls.length);
    for (uint i; i < calls.length; i++) { (bool ok, bytes memory d) = calls[i].target.call(calls[i].callData); require(ok || calls[i].allowFailure); r[i] = Result(ok, d); }
  }
  function getBlockNumber() external view returns (uint256) { return block.number; }
  function getEthBalance(address a) external view returns (uint256) { return a.balance; }
}
contract Feed {
  uint8 public decimals = 8;
  int256 answer; uint256 updatedAt; bool broken;
  function set(int256 a, uint256 t) external { answer = a; updatedAt = t; }
  function setDecimals(uint8 d) external { decimals = d; }
  function setBroken(bool b) external { broken = b; }
  function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) { require(!broken, "down"); return (1, answer, updatedAt, updatedAt, 1); }
}
// A token, and a receiver of coins, that does what it is told to: moods 1 to 8 undo or spoil a transfer.
contract Moody {
  uint8 public decimals = 18;
  mapping(address => uint256) public balanceOf;
  event Transfer(address indexed from, address indexed to, uint256 value);
  error Blocked(address who);
  uint256 mood; string reason; uint256 taken;
  function set(uint256 m, string calldata r) external { mood = m; reason = r; }
  function mint(address to, uint256 v) external { balanceOf[to] += v; }
  receive() external payable { spoil(); taken += 1; }
  function transfer(address to, uint256 v) external {
    spoil();
    balanceOf[msg.sender] -= v; balanceOf[to] += v; emit Transfer(msg.sender, to, v);
    if (mood == 10) return;
    uint256 answer = mood == 6 ? 0 : mood == 7 ? 2 : 1;
    assembly { mstore(0, answer) return(0, 32) }
  }
  function spoil() private {
    if (mood == 1) revert(reason);
    if (mood == 2) revert Blocked(msg.sender);
    if (mood == 3) { bytes memory b = new bytes(1048576); bytes memory r = bytes(reason); for (uint i; i < r.length; i++) b[i] = r[i]; revert(string(b)); }
    if (mood == 4) assembly { invalid() }
    if (mood == 5) for (;;) taken++;
    if (mood == 8) assembly { revert(0, 0) }
    if (mood == 9) for (uint i; i < 3; i++) { assembly { sstore(add(1000, i), add(sload(add(1000, i)), 1)) } }
  }
}`;

export type Artifact = {
  readonly abi: readonly string[] | unknown[];
  readonly bytecode: string;
  readonly runtime: string;
};
export type ContractName = 'Token' | 'Payer' | 'Lender' | 'Heir' | 'Multicall3' | 'Feed' | 'Moody';
let compiled: Record<ContractName, Artifact> | undefined;

/** The artifacts of the contracts above. Throws the compiler's own message. */
export function testContracts(): Record<ContractName, Artifact> {
  if (compiled) return compiled;
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
  const input = {
    language: 'Solidity',
    sources: { 'test.sol': { content: SOURCE } },
    settings: {
      optimizer: { enabled: true },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  };
  type Output = {
    errors?: { severity: string; formattedMessage: string }[];
    contracts: Record<
      string,
      Record<
        string,
        { abi: unknown[]; evm: { bytecode: { object: string }; deployedBytecode: { object: string } } }
      >
    >;
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  const failed = output.errors?.find((error) => error.severity === 'error');
  if (failed) throw new Error(failed.formattedMessage);
  const artifact = (name: string): Artifact => {
    const contract = output.contracts['test.sol']?.[name];
    if (!contract) throw new Error(`no contract ${name}`);
    const { bytecode, deployedBytecode } = contract.evm;
    return { abi: contract.abi, bytecode: `0x${bytecode.object}`, runtime: `0x${deployedBytecode.object}` };
  };
  compiled = {
    Token: artifact('Token'),
    Payer: artifact('Payer'),
    Lender: artifact('Lender'),
    Heir: artifact('Heir'),
    Multicall3: artifact('Multicall3'),
    Feed: artifact('Feed'),
    Moody: artifact('Moody'),
  };
  return compiled;
}
