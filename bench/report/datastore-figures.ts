import { measuredOn } from './measured-on.ts';
import type { Presentation } from './presentation.ts';
import type { BenchResult } from './result-file.ts';

/** One line of the table in docs/explanation/choosing-a-datastore.md, as `bench/results/datastores.json` has it. */
export interface DatastoreRow {
  readonly figure: string;
  readonly unit: string;
  readonly etcd: string;
  readonly postgres: string;
  readonly mysql: string;
  readonly nats: string;
}

/** What each kind of DataStore costs, as a table, with where it comes from. */
export function datastoreFigures(result: BenchResult<DatastoreRow>): string {
  return `${datastoreTable(result.rows)}\n\n${measuredOn(result)}`;
}

/** What each kind of DataStore costs. They were read from the output of a scenario. */
export const datastoresPresentation: Presentation<DatastoreRow> = {
  name: 'datastores',
  title: 'What each kind of DataStore costs',
  report: datastoreTable,
};

function datastoreTable(rows: readonly DatastoreRow[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const header = ['', 'etcd, three members', 'PostgreSQL 15', 'MariaDB 10.11', 'NATS 2.15, accounts'];
  return [
    line(header).replace('|  |', '| |'),
    line(header.map(() => '---')),
    ...rows.map(({ figure, unit, etcd, postgres, mysql, nats }) =>
      line([`${figure}, ${unit}`, etcd, postgres, mysql, nats]),
    ),
  ].join('\n');
}
