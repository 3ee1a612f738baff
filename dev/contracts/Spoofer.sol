// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Emits Transfer events for money that never moved.
contract Spoofer {
    event Transfer(address indexed from, address indexed to, uint256 value);

    function spoof(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }
}
