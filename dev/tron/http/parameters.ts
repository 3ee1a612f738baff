// What a node says of itself and of the chain's parameters.
import type { Chain } from '../chain.ts';
import type { Block } from '../types.ts';
import type { Handler } from './handler.ts';

/** Of the recorded network, whose prices are main net's. */
const PARAMETERS: Readonly<Record<string, number>> = {
  getMaintenanceTimeInterval: 21_600_000,
  getAccountUpgradeCost: 9_999_000_000,
  getCreateAccountFee: 100_000,
  getTransactionFee: 1_000,
  getAssetIssueFee: 1_024_000_000,
  getWitnessPayPerBlock: 32_000_000,
  getWitnessStandbyAllowance: 115_200_000_000,
  getCreateNewAccountFeeInSystemContract: 1_000_000,
  getCreateNewAccountBandwidthRate: 1,
  getAllowCreationOfContracts: 1,
  getRemoveThePowerOfTheGr: 0,
  getEnergyFee: 100,
  getExchangeCreateFee: 1_024_000_000,
  getMaxCpuTimeOfOneTx: 80,
  getAllowUpdateAccountName: 0,
  getAllowSameTokenName: 1,
  getAllowDelegateResource: 1,
  getTotalEnergyLimit: 180_000_000_000,
  getAllowTvmTransferTrc10: 1,
  getTotalEnergyCurrentLimit: 180_000_000_000,
  getAllowMultiSign: 1,
  getAllowAdaptiveEnergy: 0,
  getTotalEnergyTargetLimit: 12_500_000,
  getTotalEnergyAverageUsage: 0,
  getUpdateAccountPermissionFee: 100_000_000,
  getMultiSignFee: 1_000_000,
  getAllowAccountStateRoot: 0,
  getAllowProtoFilterNum: 0,
  getAllowTvmConstantinople: 1,
  getAllowTvmSolidity059: 1,
  getAllowTvmIstanbul: 1,
  getAllowShieldedTRC20Transaction: 0,
  getForbidTransferToContract: 1,
  getAdaptiveResourceLimitTargetRatio: 10,
  getAdaptiveResourceLimitMultiplier: 1_000,
  getChangeDelegation: 1,
  getWitness127PayPerBlock: 16_000_000,
  getAllowMarketTransaction: 1,
  getMarketSellFee: 0,
  getMarketCancelFee: 0,
  getAllowPBFT: 0,
  getAllowTransactionFeePool: 0,
  getMaxFeeLimit: 15_000_000_000,
  getAllowOptimizeBlackHole: 1,
  getAllowNewResourceModel: 0,
  getAllowTvmFreeze: 1,
  getAllowTvmVote: 1,
  getAllowTvmLondon: 1,
  getAllowTvmCompatibleEvm: 1,
  getAllowAccountAssetOptimization: 0,
  getFreeNetLimit: 600,
  getTotalNetLimit: 43_200_000_000,
  getAllowHigherLimitForMaxCpuTimeOfOneTx: 1,
  getAllowAssetOptimization: 1,
  getAllowNewReward: 1,
  getMemoFee: 1_000_000,
  getAllowDelegateOptimization: 1,
  getUnfreezeDelayDays: 14,
  getAllowOptimizedReturnValueOfChainId: 1,
  getAllowDynamicEnergy: 1,
  getDynamicEnergyThreshold: 5_000_000_000,
  getDynamicEnergyIncreaseFactor: 2_000,
  getDynamicEnergyMaxFactor: 34_000,
  getAllowTvmShangHai: 1,
  getAllowCancelAllUnfreezeV2: 1,
  getMaxDelegateLockPeriod: 86_400,
  getAllowOldRewardOpt: 0,
  getAllowEnergyAdjustment: 1,
  getMaxCreateAccountTxSize: 1_000,
  getAllowStrictMath: 1,
  getConsensusLogicOptimization: 1,
  getAllowTvmCancun: 1,
  getAllowTvmBlob: 1,
};

const getChainParameters: Handler = ({ chain }) => ({
  chainParameter: Object.entries({ ...PARAMETERS, ...voted(chain) }).map(([key, value]) =>
    value === 0 ? { key } : { key, value },
  ),
});

const voted = ({ prices, energy }: Pick<Chain, 'prices' | 'energy'>): Readonly<Record<string, number>> => ({
  getEnergyFee: Number(prices.sunPerEnergy),
  getTransactionFee: Number(prices.sunPerByte),
  getCreateNewAccountFeeInSystemContract: Number(prices.newAccount),
  getTotalEnergyLimit: Number(energy.limit),
  getTotalEnergyCurrentLimit: Number(energy.limit),
});

const named = (block: Block | undefined): string => `Num:${block?.header.number},ID:${block?.id}`;

const CONFIGURATION = {
  activeNodeSize: 0,
  allowAdaptiveEnergy: 0,
  allowCreationOfContracts: 1,
  backupListenPort: 10_001,
  backupMemberSize: 0,
  backupPriority: 8,
  codeVersion: '4.8.0',
  dbVersion: 2,
  discoverEnable: false,
  listenPort: 18_888,
  maxConnectCount: 1,
  maxTimeRatio: 5,
  minParticipationRate: 0,
  minTimeRatio: 0,
  p2pVersion: '99331',
  passiveNodeSize: 0,
  sameIpMaxConnectCount: 1,
  sendNodeSize: 0,
  supportConstant: true,
  versionNum: '18631',
} as const;

/** The irreversible block that it names runs ahead of what the other view shows, by two. */
const getNodeInfo: Handler = ({ chain }) => {
  const { number } = chain.head.header;
  return {
    activeConnectCount: 0,
    beginSyncNum: chain.solidHeight,
    block: named(chain.head),
    cheatWitnessInfoMap: {},
    configNodeInfo: CONFIGURATION,
    currentConnectCount: 0,
    machineInfo: {},
    passiveConnectCount: 0,
    peerList: [],
    solidityBlock: named(chain.blocks.at(Math.min(number, chain.solidHeight + 2))),
    totalFlow: 0,
  };
};

/** What a node tells of itself, by the last part of the path. */
export const PARAMETER_HANDLERS: Readonly<Record<string, Handler>> = {
  getchainparameters: getChainParameters,
  getenergyprices: ({ chain }) => ({ prices: `0:${chain.prices.sunPerEnergy}` }),
  getbandwidthprices: ({ chain }) => ({ prices: `0:10,1:${chain.prices.sunPerByte}` }),
  getnodeinfo: getNodeInfo,
};
