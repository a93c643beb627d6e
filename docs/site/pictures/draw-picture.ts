import type { Area, Arrow, Box, Picture, Point } from './picture.ts';

const lineHeight = 18;

/** Colors follow the page that the picture is in, or else the reader's system. */
const style = `.steward-picture{--l:var(--picture-line,#52607a);--t:var(--picture-text,#172033);--f:var(--picture-fill,#e6edfb);--s:var(--picture-soft,#f6f8fd);--a:var(--picture-accent,#1d4ed8);font:14px -apple-system,'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif}
@media (prefers-color-scheme:dark){.steward-picture{--l:var(--picture-line,#9fb3d9);--t:var(--picture-text,#eef2fb);--f:var(--picture-fill,#1c2740);--s:var(--picture-soft,#141b2c);--a:var(--picture-accent,#8fb0ff)}}
.steward-picture text{fill:var(--t)}
.steward-picture .area{fill:var(--s);stroke:var(--l);stroke-width:1}
.steward-picture .box{fill:var(--f);stroke:var(--l);stroke-width:1.5}
.steward-picture .optional{stroke-dasharray:5 4}
.steward-picture .name{font-weight:600}
.steward-picture .arrow{fill:none;stroke:var(--a);stroke-width:2}
.steward-picture .head{fill:var(--a)}
.steward-picture .label{font-size:13px}
.steward-picture .halo{stroke:var(--s);stroke-width:6;paint-order:stroke;stroke-linejoin:round}`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function rectangle([x, y]: Point, [width, height]: Point, name: string, optional?: true): string {
  const kind = optional === true ? `${name} optional` : name;
  return `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`;
}

function drawArea({ at, size, name, optional }: Area): string {
  return `${rectangle(at, size, 'area', optional)}<text class="name" x="${at[0] + 12}" y="${at[1] + 22}">${escaped(name)}</text>`;
}

function drawBox({ at, size, lines, optional }: Box): string {
  const middle = at[0] + size[0] / 2;
  const first = at[1] + size[1] / 2 - ((lines.length - 1) * lineHeight) / 2 + 5;
  const texts = lines.map((line, index) => {
    const kind = index === 0 ? ' class="name"' : '';
    return `<text${kind} x="${middle}" y="${first + index * lineHeight}" text-anchor="middle">${escaped(line)}</text>`;
  });
  return [rectangle(at, size, 'box', optional), ...texts].join('');
}

function drawArrow({ through, both, label }: Arrow, head: string): string {
  const path = through.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join(' ');
  const start = both === true ? ` marker-start="url(#${head})"` : '';
  return `<path class="arrow" d="${path}"${start} marker-end="url(#${head})"/>${label === undefined ? '' : drawLabel(label)}`;
}

function drawLabel({ at: [x, y], lines }: NonNullable<Arrow['label']>): string {
  return lines
    .map((line, index) => {
      const place = `x="${x}" y="${y + index * lineHeight}" text-anchor="middle"`;
      return `<text class="label halo" ${place}>${escaped(line)}</text>`;
    })
    .join('');
}

/** The picture as SVG: readable on light and on dark pages, and by those who hear it. */
export function drawPicture({ name, title, description, size, areas, boxes, arrows }: Picture): string {
  const [width, height] = size;
  const head = `${name}-head`;
  const shapes = [
    ...areas.map(drawArea),
    ...boxes.map(drawBox),
    // Above the boxes: some arrows end inside of them.
    ...arrows.map((arrow) => drawArrow(arrow, head)),
  ];
  return [
    `<svg class="steward-picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="${name}-title ${name}-text">`,
    `<title id="${name}-title">${escaped(title)}</title>`,
    `<desc id="${name}-text">${escaped(description)}</desc>`,
    `<style>${style}</style>`,
    `<defs><marker id="${head}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0L10 5L0 10z"/></marker></defs>`,
    ...shapes,
    '</svg>',
    '',
  ].join('\n');
}
