import { expect } from 'chai';
import { barChart } from '../../../src/web/parts/chart.ts';

const heights = (markup: string) => [...markup.matchAll(/height="([\d.]+)"/g)].map(([, height]) => height);
const bars = (...values: number[]) =>
  values.map((value, index) => ({ label: `day ${index}`, value, words: `<${value}>` }));

describe('a chart of bars', () => {
  it('draws each bar in proportion to the highest, a very small one as a line, and none for nothing', () => {
    const { markup } = barChart({ name: 'Money', most: 'Highest: 200', bars: bars(200, 100, 0.01, 0) });
    expect(heights(markup)).to.deep.equal(['100', '50', '1']);
    expect(markup).to.include('role="img" aria-label="Money"').and.to.include('viewBox="0 0 40 100"');
    expect(markup).to.include('<title>&lt;0.01&gt;</title>').and.to.include('day 0').and.to.include('day 3');
  });

  it('is a picture without a number that is none for nothing at all, and for no day', () => {
    for (const none of [bars(0, 0), bars(), bars(-1)]) {
      const { markup } = barChart({ name: 'Money', most: 'Nothing', bars: none });
      expect(heights(markup)).to.deep.equal([]);
      expect(markup).not.to.match(/NaN|Infinity|undefined/);
    }
  });

  it('has no style of its own, no script and no colour that is not a token', () => {
    const { markup } = barChart({ name: 'Money', most: 'Highest: 1', bars: bars(1) });
    expect(markup).not.to.match(/style=|fill=|stroke=|<script|on\w+=/);
  });
});
