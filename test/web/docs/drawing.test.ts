import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LIVES, lifeOf, stepsOf } from '../../../src/web/docs/lives.ts';
import { renderMarkdown } from '../../../src/web/docs/markdown.ts';

for (const [guide, life] of Object.entries(LIVES))
  describe(`the drawing in the guide ${guide}`, () => {
    const text = readFileSync(join(import.meta.dirname, `../../../docs/guides/${guide}.md`), 'utf8');
    const diagram = /```mermaid\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
    const drawn = lifeOf(guide, diagram)?.markup ?? '';
    const steps = [
      ...life.first.map((to) => ` ${to}`),
      ...Object.entries(life.transitions).flatMap(([from, next]) => next.map((to) => `${from} ${to}`)),
    ];

    it('has an arrow for each step that the program may take, and none besides', () => {
      const arrows = [...drawn.matchAll(/data-from="(\w*)" data-to="(\w+)"/g)].map(
        ([, from, to]) => `${from} ${to}`,
      );
      expect(arrows).to.have.members(steps);
      expect(new Set(arrows).size).to.equal(arrows.length);
    });

    it('is told in words that name the same steps, each with a reason', () => {
      const told = stepsOf(diagram);
      expect(told.map(({ from, to }) => `${from === '[*]' ? '' : from} ${to}`)).to.have.members(steps);
      for (const { when } of told)
        expect(drawn).to.include(`<td>${when}</td>`).and.not.include('<td></td></tr>');
    });
  });

describe('a guide in Markdown', () => {
  it('cannot bring markup into the page, and leads to calls, files and headings by the anchors of code hosts', () => {
    const placeOf = (call: string) => (call === 'GET /deposits/:id' ? '/docs#getDeposit' : undefined);
    const text = `# A b\n\n## The \`x\`, and: y\n\n## Again\n\n## Again\n\n<script>x</script> <b onclick="x">y</b>
[go](javascript:alert(1)) \`GET /deposits/:id\` \`GET /none\` [w](webhooks.md#the-answer)`;
    const { body, headings } = renderMarkdown(text, { name: 'x', instead: () => undefined, placeOf });
    expect(body.markup)
      .to.include('&lt;script&gt;')
      .and.include('<a href="/docs#getDeposit"><code>GET /deposits/:id</code></a>')
      .and.include(' <code>GET /none</code> ')
      .and.include('<a href="webhooks#the-answer">w</a>')
      .and.not.match(/<(script|b)[ >]|javascript:/);
    const ids = headings.map(({ id }) => id);
    expect(ids).to.deep.equal(['a-b', 'the-x-and-y', 'again', 'again-1']);
    expect([...body.markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)).to.deep.equal(ids);
  });
});
