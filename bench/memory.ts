import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';

import { ChurningFleet } from '../testing/churning-fleet.ts';
import { textTable } from './text-table.ts';

/** What the heap may hold more than after the first look. */
const mostGrowth = 1.05;
const atOnce = 50;

interface Look {
  readonly tenants: number;
  readonly heapBytes: number;
  /** Objects in all slots of the manager's memory. */
  readonly remembered: number;
}

/** The heap after collection: what was just freed may hold other things that can be freed by the next one only. */
async function look(fleet: ChurningFleet, tenants: number): Promise<Look> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('start it with: node --expose-gc bench/memory.ts');
  for (let pass = 0; pass < 5; pass += 1) {
    await gc({ execution: 'async', type: 'major' });
  }
  const remembered = [...fleet.memory.sizes().values()].reduce((sum, size) => sum + size, 0);
  return { tenants, heapBytes: process.memoryUsage().heapUsed, remembered };
}

const { values } = parseArgs({
  options: {
    tenants: { type: 'string', default: '100,1000,10000' },
    json: { type: 'string' },
    check: { type: 'boolean', default: false },
  },
});
const fleet = new ChurningFleet();
await fleet.start();
const looks: Look[] = [];
let made = 0;
for (const goal of values.tenants.split(',').map(Number)) {
  while (made < goal) {
    const count = Math.min(atOnce, goal - made);
    await fleet.pass(count);
    made += count;
  }
  looks.push(await look(fleet, made));
  console.error(`${made} tenants made and deleted`);
}
await fleet.stop();
const first = looks[0]?.heapBytes ?? 0;
const growth = (looks.at(-1)?.heapBytes ?? 0) / first;
console.log('The heap of the manager after collection, when tenants have been made and deleted\n');
console.log(
  textTable(
    ['tenants', 'heap in MiB', 'against the first', 'objects remembered'],
    looks.map(({ tenants, heapBytes, remembered }) => [
      String(tenants),
      (heapBytes / 2 ** 20).toFixed(2),
      (heapBytes / first).toFixed(3),
      String(remembered),
    ]),
  ),
);
if (values.json !== undefined) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const machine = { node: process.version, cpus: cpus().length, memoryBytes: totalmem() };
  const measured = { date: new Date().toISOString(), commit, machine, atOnce, looks, growth };
  await writeFile(values.json, `${JSON.stringify(measured, undefined, 2)}\n`);
}
if (values.check && growth > mostGrowth) {
  console.error(`the heap has grown to ${growth.toFixed(3)} of what it was; ${mostGrowth} is the most`);
  process.exitCode = 1;
}
