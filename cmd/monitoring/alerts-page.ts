import type { Alert } from './alerts.ts';
import { recordings } from './recordings.ts';

function section({ name, expr, for: duration, severity, summary, meaning, remedy }: Alert): string {
  const said = summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '`<$1>`');
  const since = duration === '0m' ? 'at once' : `after ${duration}`;
  return [
    `## ${name}`,
    `*${severity}, ${since}*: ${said}.`,
    meaning,
    ['```promql', expr, '```'].join('\n'),
    remedy.map((step, index) => `${index + 1}. ${step}`).join('\n'),
  ].join('\n\n');
}

/** The series that are recorded for alerts, dashboards and objectives. */
function recorded(): string {
  const rows = recordings.map(({ name, meaning }) => `| \`${name}\` | ${meaning} |`);
  return ['## Recorded series', '', '| Series | Meaning |', '| --- | --- |', ...rows].join('\n');
}

/** The reference page of all alerts, in Markdown: what each means, and what to do. */
export function alertsPage(alerts: readonly Alert[]): string {
  const intro =
    'How to install them: [Observe Steward](../../how-to/observe.md#alerts). What the conditions mean: [Conditions](conditions.md).';
  const sections = ['# Alerts', intro, ...alerts.map(section), recorded()];
  return `${['<!-- Made by `npm run gen`; do not edit. -->', ...sections].join('\n\n')}\n`;
}
