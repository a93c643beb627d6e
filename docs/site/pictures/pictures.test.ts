import { describe, expect, test } from '@jest/globals';

import { clusterStackKinds } from '../../../clusterstacks/api/kinds.ts';
import { drawPicture } from './draw-picture.ts';
import { allPictures } from './picture-files.ts';
import type { Point } from './picture.ts';

const inside = ([x, y]: Point, [width, height]: Point): boolean => x >= 0 && y >= 0 && x <= width && y <= height;

describe.each(allPictures)('The picture $name', (picture) => {
  test('has everything inside of its frame', () => {
    const corners = [...picture.areas, ...picture.boxes].flatMap(({ at, size }): readonly Point[] => [
      at,
      [at[0] + size[0], at[1] + size[1]],
    ]);
    const points = [...corners, ...picture.arrows.flatMap(({ through }) => through)];
    expect(points.filter((point) => !inside(point, picture.size))).toEqual([]);
  });

  test('has text that fits into its boxes', () => {
    // Bold letters of 14 px are up to 8.2 px wide on average.
    const fits = (text: string, width: number): boolean => text.length * 8.2 <= width;
    const wide = picture.boxes.filter(({ size, lines }) => !lines.every((line) => fits(line, size[0])));
    expect(wide.map(({ lines }) => lines)).toEqual([]);
    expect(picture.areas.filter(({ size, name }) => !fits(name, size[0] - 12))).toEqual([]);
  });

  test('says what it shows', () => {
    const svg = drawPicture(picture);
    expect(svg).toContain('role="img"');
    for (const { lines } of picture.boxes) expect(svg).toContain(`>${lines[0]}<`);
    expect(picture.description.length).toBeGreaterThan(80);
  });
});

test('The pictures of cluster stacks show every kind of them, and the order of an upgrade', () => {
  const texts = (name: string): string => {
    const picture = allPictures.find((each) => each.name === name);
    return picture?.boxes.map(({ lines }) => lines.join(' ')).join('; ') ?? '';
  };
  for (const { kind } of clusterStackKinds) expect(texts('cluster-stack')).toContain(kind);
  expect(texts('cluster-stack-upgrade')).toMatch(/class.*Add-ons before.*Control plane.*Workers.*Add-ons after/);
});

test('A name with signs that mean something in XML is drawn as it is', () => {
  const box = { at: [0, 0], size: [90, 20], lines: ['a<b> & "c"'] } as const;
  const svg = drawPicture({
    name: 'x',
    title: 't',
    description: 'd',
    size: [9, 9],
    areas: [],
    boxes: [box],
    arrows: [],
  });
  expect(svg).toContain('a&lt;b&gt; &amp; &quot;c&quot;');
});
