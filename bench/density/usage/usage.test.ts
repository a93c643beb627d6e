import { describe, expect, test } from '@jest/globals';

import { countConnections, cpuBetween, parseMachine } from './machine-usage.ts';
import { descendantsOf, parseStat } from './process-table.ts';

const stat = '7 (a) b (c) S 4 7 7 0 -1 4194560 1 0 0 0 250 50 30 20 20 0 11 0 100 1 1';

describe('A process', () => {
  test('is read from proc with the time of its children that have ended, whatever its name', () => {
    expect(parseStat(stat)).toEqual({ pid: 7, parent: 4, name: 'a) b (c', cpuSeconds: 3.5 });
  });

  test('has its children, and theirs', () => {
    const one = (pid: number, parent: number) => ({ pid, parent, name: 'x', cpuSeconds: 0 });
    const all = [one(1, 0), one(2, 1), one(3, 2), one(4, 1), one(5, 9)];
    expect(descendantsOf(1, all).map(({ pid }) => pid)).toEqual(expect.arrayContaining([2, 3, 4]));
    expect(descendantsOf(1, all)).toHaveLength(3);
  });
});

describe('The processors', () => {
  const machine = (busy: number, idle: number): string => `cpu  ${busy} 0 0 ${idle} 0 0 0 0 0 0\ncpu0 1 2 3\n`;

  test('are busy with all but idling and waiting for disks', () => {
    expect(parseMachine('cpu  100 10 50 700 100 20 10 10 5 5\n')).toEqual({ busy: 2, total: 10 });
  });

  test('are used by the parts, and by others', () => {
    const at = (ms: number, server: number, text: string) => ({
      ...{ at: ms, parts: { server, kine: server / 2, client: 1 }, ...parseMachine(text) },
    });
    const use = cpuBetween(at(0, 0, machine(0, 0)), at(10_000, 4, machine(1000, 1000)));
    expect(use.server).toBeCloseTo(0.4);
    expect(use.kine).toBeCloseTo(0.2);
    expect(use.client).toBe(0);
    expect(use.others).toBeCloseTo(0.4);
    expect(use.busy).toBeCloseTo(0.5);
  });
});

test('Connections are the established ones at the port of the server', () => {
  const line = (local: string, remote: string, state: string): string =>
    `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0`;
  const table = [
    '  sl  local_address rem_address   st',
    line('0100007F:1F90', '00000000:0000', '0A'),
    line('0100007F:1F90', '0100007F:C350', '01'),
    line('0100007F:C350', '0100007F:1F90', '01'),
    line('0100007F:1F90', '0100007F:C351', '06'),
  ].join('\n');
  expect(countConnections(table, 8080)).toBe(1);
});
