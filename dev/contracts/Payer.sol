// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Token {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Pays as exchanges and wallets with smart accounts do: from inside a contract, to several at once, in more than one asset.
contract Payer {
    receive() external payable {}

    /// BNB by internal calls; what is left of the value stays here.
    function payBnb(address payable[] calldata to, uint256[] calldata values) public payable {
        for (uint256 i = 0; i < to.length; i++) {
            (bool paid, ) = to[i].call{value: values[i]}("");
            require(paid, "the receiver refused");
        }
    }

    /// The contract's own tokens.
    function payToken(Token token, address[] calldata to, uint256[] calldata values) public {
        for (uint256 i = 0; i < to.length; i++) require(token.transfer(to[i], values[i]), "transfer");
    }

    /// The caller's tokens, after an approval.
    function payTokenFrom(Token token, address[] calldata to, uint256[] calldata values) public {
        for (uint256 i = 0; i < to.length; i++) require(token.transferFrom(msg.sender, to[i], values[i]), "transferFrom");
    }

    /// BNB and the contract's own tokens to one receiver in one transaction.
    function payBoth(Token token, address payable to, uint256 bnb, uint256 tokens) external payable {
        (bool paid, ) = to.call{value: bnb}("");
        require(paid, "the receiver refused");
        require(token.transfer(to, tokens), "transfer");
    }

    /// Sends everything by selfdestruct, which runs no code of the receiver.
    function destroyTo(address payable to) external {
        selfdestruct(to);
    }
}
