import { createInterface } from 'node:readline';
import { setPriority } from 'node:os';
import { parseArgs } from 'node:util';

import { ClockWatch } from './clock-watch.ts';

/** Between two looks for new processes, and between two looks at those that may have called exec since. */
const [newMs, allMs] = [4, 200];

const { values } = parseArgs({
  options: { cgroup: { type: 'string' }, root: { type: 'string', multiple: true, default: [] } },
});
if (values.cgroup === undefined)
  throw new Error(
    'usage: main.ts --cgroup <part of a path> [--root <pid>]; each line of the input is an offset in seconds',
  );

const watch = new ClockWatch({ cgroup: values.cgroup, roots: values.root.map(Number) });
// Whoever has started and reads its clock first reads that of this machine.
setPriority(-10);

let lookedAtAll = performance.now();
const timer = setInterval(() => {
  const now = performance.now();
  const isTime = now - lookedAtAll >= allMs;
  if (isTime) lookedAtAll = now;
  watch.look(isTime ? 'all' : 'young');
}, newMs);

// What still runs when nobody asks anymore gets the clock of this machine back.
for await (const line of createInterface(process.stdin)) {
  const began = performance.now();
  watch.moveTo(Number(line));
  process.stdout.write(`${JSON.stringify({ moved: watch.moved(), ms: performance.now() - began })}\n`);
}
clearInterval(timer);
watch.moveTo(0);
