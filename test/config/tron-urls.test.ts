import { expect } from 'chai';
import { loadConfig } from '../../src/config/index.ts';
import { problemsOf } from '../support/repository/config-samples.ts';

describe('the endpoints of Tron', () => {
  it('are asked for what is final at addresses of their own, one for each, or at the same ones', () => {
    const TRON_API_URLS = 'http://a:8090,https://b/KEY/';
    const same = ['http://a:8090', 'https://b/KEY'];
    const urlsOf = (env: Record<string, string>) => {
      const { urls, apiUrls, solidityUrls } = loadConfig(env).chains.tron;
      return { urls, apiUrls, solidityUrls };
    };
    expect(urlsOf({ TRON_API_URLS })).to.deep.equal({ urls: same, apiUrls: same, solidityUrls: same });
    expect(urlsOf({ TRON_API_URLS, TRON_SOLIDITY_URLS: 'http://a:8091, https://b/KEY' })).to.deep.equal({
      urls: [...same, 'http://a:8091'],
      apiUrls: same,
      solidityUrls: ['http://a:8091', 'https://b/KEY'],
    });
    expect(urlsOf({ TRON_SOLIDITY_URLS: 'http://a:8091' }), 'the chain is off').to.deep.equal({
      urls: [],
      apiUrls: [],
      solidityUrls: [],
    });
    for (const TRON_SOLIDITY_URLS of ['https://a/hunter2', 'http://a,http://b,http://c'])
      expect(problemsOf({ TRON_API_URLS, TRON_SOLIDITY_URLS })).to.deep.equal([
        `TRON_SOLIDITY_URLS must name one address for each of TRON_API_URLS, in the same order, and names ${TRON_SOLIDITY_URLS.split(',').length} for 2; where they are the same addresses, remove it.`,
      ]);
  });
});
