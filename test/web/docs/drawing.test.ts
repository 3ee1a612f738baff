import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LIVES, lifeOf, stepsOf } from '../../../src/web/docs/lives.ts';
import { renderMarkdown } from '../../../src/web/docs/markdown.ts';

type Rect = { x: number; y: number; width: number; height: number };

const attribute = (tag: string, name: string): string =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '';

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

    it('has no arrow through a state that it has nothing to do with', () => {
      const boxes = new Map<string, Rect>();
      for (const [, rect = '', name = ''] of drawn.matchAll(/(<rect[^>]*>)<text[^>]*>(\w+)</g)) {
        const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((key) =>
          Number(attribute(rect, key)),
        );
        boxes.set(name, { x: x ?? 0, y: y ?? 0, width: width ?? 0, height: height ?? 0 });
      }
      expect([...boxes.keys()]).to.have.members(Object.keys(life.transitions));
      for (const [line] of drawn.matchAll(/<line[^>]*data-from[^>]*>/g)) {
        const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = ['x1', 'y1', 'x2', 'y2'].map((key) =>
          Number(attribute(line, key)),
        );
        const points = Array.from({ length: 200 }, (_, step) => step / 199).map((share) => ({
          x: x1 + (x2 - x1) * share,
          y: y1 + (y2 - y1) * share,
        }));
        const ends = [attribute(line, 'data-from'), attribute(line, 'data-to')];
        for (const [name, box] of boxes)
          if (!ends.includes(name))
            expect(
              points.filter((point) => isIn(point, box)),
              `${ends.join(' to ')} through ${name}`,
            ).to.deep.equal([]);
        expect(isIn({ x: x1, y: y1 }, boxes.get(ends[0] ?? ''), 0.2), `${ends} begins at its box`).to.equal(
          true,
        );
        expect(isIn({ x: x2, y: y2 }, boxes.get(ends[1] ?? ''), 0.2), `${ends} ends at its box`).to.equal(
          true,
        );
      }
    });
  });

function isIn({ x, y }: { x: number; y: number }, box: Rect | undefined, by = 0): boolean {
  if (!box) return false;
  return x > box.x - by && x < box.x + box.width + by && y > box.y - by && y < box.y + box.height + by;
}

describe('a guide in Markdown', () => {
  const render = (text: string) =>
    renderMarkdown(text, {
      name: 'x',
      instead: () => undefined,
      placeOf: (call) => (call === 'GET /deposits/:id' ? '/docs#getDeposit' : undefined),
    });

  it('cannot bring markup, or an address that runs code, into the page', () => {
    const { body } = render(
      '# A\n\n<script>x</script>\n\n<b onclick="x">y</b>\n\n[go](javascript:alert(1))\n\n<img src=x>',
    );
    expect(body.markup)
      .to.include('&lt;script&gt;')
      .and.not.match(/<(script|b|img)[ >]/)
      .and.not.include('javascript:');
  });

  it('leads from the name of a call to the reference, and from a file to its page', () => {
    expect(render('`GET /deposits/:id` `GET /none` [w](webhooks.md#the-answer)').body.markup)
      .to.include('<a href="/docs#getDeposit"><code>GET /deposits/:id</code></a>')
      .and.include(' <code>GET /none</code> ')
      .and.include('<a href="webhooks#the-answer">w</a>');
  });

  it('has the anchors that code hosts make, two equal headings told apart', () => {
    const { headings, body } = render('# A b\n\n## The `x`, and: y\n\n## Again\n\n## Again\n');
    expect(headings.map(({ id }) => id)).to.deep.equal(['a-b', 'the-x-and-y', 'again', 'again-1']);
    expect([...body.markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)).to.deep.equal(
      headings.map(({ id }) => id),
    );
  });
});
