import { expect, test } from '@jest/globals';

import { metricNames } from '../../metrics/metrics-page.ts';
import { recordings } from '../recordings.ts';
import { dashboards } from './all-dashboards.ts';
import { grafanaJson } from './grafana-json.ts';

const known = [...metricNames(), ...recordings.map(({ name }) => name)];
const panels = dashboards.flatMap(({ title, panels: all }) =>
  all.map((panel) => ({ name: `${title}: ${panel.title}`, panel })),
);
/** Those of prom-client about the process itself. */
const ofProcess = /^(process|nodejs)_/;

test.each(panels)('$name queries metrics that exist', ({ panel }) => {
  for (const { expr } of panel.queries) {
    const named = [...expr.matchAll(/\b[a-z]+(?:[:_][a-z0-9]+)+\b(?=[{[ )]|$)/g)].map(([name]) =>
      name.replace(/_bucket$/, ''),
    );
    const metrics = named.filter((name) => !['histogram_quantile', 'label_values'].includes(name));
    expect(metrics.length).toBeGreaterThan(0);
    for (const name of metrics) if (!ofProcess.test(name)) expect(known).toContain(name);
  }
});

test.each(dashboards)('$title is JSON in which no panel lies on another', (dashboard) => {
  const { panels: placed } = JSON.parse(grafanaJson(dashboard)) as {
    panels: readonly { gridPos: { x: number; y: number; w: number; h: number } }[];
  };
  const cells = placed.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(Math.max(...placed.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24);
});
