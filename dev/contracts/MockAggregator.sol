// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A Chainlink price feed whose answer the test decides.
contract MockAggregator {
    uint8 public constant decimals = 8;
    int256 private answer;
    uint256 private updatedAt;
    uint80 private round = 1;

    constructor(int256 firstAnswer, uint256 firstUpdatedAt) {
        answer = firstAnswer;
        updatedAt = firstUpdatedAt;
    }

    function set(int256 newAnswer, uint256 newUpdatedAt) external {
        answer = newAnswer;
        updatedAt = newUpdatedAt;
        round++;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (round, answer, updatedAt, updatedAt, round);
    }
}
