import { describe, expect, test } from '@jest/globals';

import { hardwarePresentation, together } from './hardware-report.ts';
import type { HardwareRow, Part, Way } from './hardware-rows.ts';

describe('The report of hardware', () => {
  const row = (way: Way, part: Part, anonymousMiB: number): HardwareRow => ({
    ...{ way, part, availability: 'available', controlPlanes: 2, machines: way === 'kubeadm' ? 6 : 1 },
    ...{ processes: 3, rssMiB: anonymousMiB + 50, pssMiB: anonymousMiB, anonymousMiB, milliCpu: 10, seconds: 60 },
  });
  const rows = [
    ...[row('kubeadm', 'control planes', 600), row('kubeadm', 'etcd', 200), row('kubeadm', 'below', 200)],
    ...[row('Steward', 'control planes', 400), row('Steward', 'etcd', 100), row('Steward', 'manager', 50)],
    row('Steward', 'below', 250),
  ];
  const report = hardwarePresentation.report(rows).replaceAll(/ +/g, ' ');

  test('has what each part needs, and all of them together', () => {
    expect(report).toContain('| kubeadm, 6 machines | etcd | 3 | 250 | 200 | 200 | 10 |');
    expect(report).toContain('| Steward | **control planes, etcd and manager** | 9 | 700 | 550 | 550 | 30 |');
    expect(report).toContain('| Steward | **all processes** | 12 | 1000 | 800 | 800 | 40 |');
  });

  test('has what one control plane needs, and what is saved, which may be less than nothing', () => {
    expect(report).toContain('| all processes, kubeadm | 575 | 500 | 500 | 15 |');
    expect(report).toContain('| all processes | 13 | 20 | 20 | -33 |');
  });

  test('is summed up by what the control planes need with etcd and manager', () => {
    expect(hardwarePresentation.headlines?.(rows)[0]).toMatchObject({ value: '550', floor: '800', times: '0.69' });
  });

  test('counts nothing twice', () => {
    expect(together(rows.filter(({ way }) => way === 'kubeadm'))).toMatchObject({ processes: 9, anonymousMiB: 1000 });
  });
});
