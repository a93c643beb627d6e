import { oneLine } from '../output/one-line.ts';
import { renderPlan } from '../plan/render-plan.ts';
import type { ImportReport } from './import-report.ts';

const titles = {
  planned: 'Plan to import',
  refused: 'Cannot import',
  imported: 'Imported',
  undone: 'Undid the import of',
} as const;

/** The report as text. */
export function renderImport(report: ImportReport): string {
  const { from, namespace, name, result, problems, warnings, identity, steps, plan } = report;
  const {
    endpoint = 'unknown',
    ca = 'unknown',
    dataStore = 'unknown',
    schema = 'unknown',
    user = 'unknown',
  } = identity;
  const lines = [
    `${titles[result]} ${namespace}/${name} (${from})`,
    ...problems.map((problem) => `  Problem: ${problem}`),
    ...warnings.map((warning) => `  Warning: ${warning}`),
    `  Endpoint:  ${endpoint}`,
    `  CA:        SHA-256 ${ca}`,
    `  Data:      DataStore ${dataStore}, schema ${schema}, user ${user}`,
    ...(result === 'planned' ? ['Steps'] : []),
    ...(result === 'planned' ? steps.map(({ title, done }, at) => `  ${done ? '✓' : ' '} ${at + 1}. ${title}`) : []),
  ];
  const text = lines.map((line) => `${line.startsWith(' ') ? `  ${oneLine(line)}` : oneLine(line)}\n`).join('');
  return plan === undefined ? text : `${text}${renderPlan(plan)}`;
}
