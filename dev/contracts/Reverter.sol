// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Takes no money and fails every call.
contract Reverter {
    receive() external payable {
        revert("no thanks");
    }

    fallback() external payable {
        revert("no thanks");
    }
}
