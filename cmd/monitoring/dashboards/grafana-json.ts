import type { Dashboard, Panel } from './dashboard.ts';

/** Whichever Prometheus the reader chooses. */
const datasource = { type: 'prometheus', uid: '${datasource}' };
/** Grafana's grid has 24 columns: two panels side by side, four numbers. */
const sizes = { timeseries: { w: 12, h: 8 }, table: { w: 24, h: 8 }, stat: { w: 6, h: 4 } } as const;

interface Placed {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** Places panels from left to right; a row is as high as its panels, which are of one type. */
function placed(panels: readonly Panel[]): readonly Placed[] {
  const result: Placed[] = [];
  let [x, y, height] = [0, 0, 0];
  for (const { type } of panels) {
    const { w, h } = sizes[type];
    if (x + w > 24 || (height !== 0 && height !== h)) [x, y, height] = [0, y + height, 0];
    result.push({ x, y, w, h });
    [x, height] = [x + w, h];
  }
  return result;
}

function panelJson({ title, description, type, unit, queries }: Panel, id: number, gridPos: Placed): object {
  const isNow = type !== 'timeseries';
  return {
    ...{ id, title, description, type, datasource, gridPos },
    fieldConfig: { defaults: { unit, min: type === 'timeseries' ? 0 : undefined }, overrides: [] },
    options: type === 'stat' ? { colorMode: 'none', reduceOptions: { calcs: ['lastNotNull'] } } : {},
    targets: queries.map(({ expr, legend }, index) => ({
      ...{ refId: String.fromCodePoint(65 + index), datasource, expr, legendFormat: legend },
      ...(isNow && { instant: true }),
      ...(type === 'table' && { format: 'table' }),
    })),
    ...(type === 'table' && {
      transformations: [
        { id: 'organize', options: { excludeByName: { Time: true, __name__: true, instance: true, job: true } } },
      ],
    }),
  };
}

/** The JSON that Grafana imports. */
export function grafanaJson({ name, title, choices, panels }: Dashboard): string {
  const grid = placed(panels);
  const whole = { x: 0, y: 0, w: 24, h: 8 };
  const json = {
    uid: `steward-${name}`,
    title,
    tags: ['steward'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        ...choices.map((choice) => ({
          ...{ name: choice.name, label: choice.name, type: 'query', datasource, query: choice.query, refresh: 2 },
          sort: 1,
        })),
      ],
    },
    panels: panels.map((panel, index) => panelJson(panel, index + 1, grid[index] ?? whole)),
  };
  return `${JSON.stringify(json, undefined, 2)}\n`;
}
