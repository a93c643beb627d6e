import { describe, expect, test } from '@jest/globals';

import { cgroupName, planCgroups } from './cgroup-plan.ts';

const line = (id: number, mountPoint: string, type: string, options: string): string =>
  `${id} 31 0:${id} / ${mountPoint} rw,relatime shared:9 - ${type} ${type} ${options}`;

describe('planCgroups', () => {
  test('reads a host with one mount per controller and a unified hierarchy beside them', () => {
    const plan = planCgroups(
      [
        '31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755',
        ...['cpu', 'cpuset', 'memory', 'pids'].map((name, n) =>
          line(40 + n, `/sys/fs/cgroup/${name}`, 'cgroup', `rw,${name}`),
        ),
        line(50, '/sys/fs/cgroup/systemd', 'cgroup', 'rw,name=systemd'),
        line(51, '/sys/fs/cgroup/unified', 'cgroup2', 'rw,nsdelegate'),
      ].join('\n'),
    );
    expect(plan.version).toBe(1);
    expect(plan.hierarchies.map(({ folder, options }) => `${folder}=${options}`)).toEqual([
      'cpu=cpu',
      'cpuset=cpuset',
      'memory=memory',
      'pids=pids',
      'systemd=none,name=systemd',
      'unified=',
    ]);
  });

  test('keeps controllers together that share a mount, and drops options that are not controllers', () => {
    const plan = planCgroups(
      [
        line(40, '/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'rw,xattr,cpu,cpuacct'),
        line(41, '/sys/fs/cgroup/cpuset', 'cgroup', 'rw,cpuset,clone_children'),
        line(42, '/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
        line(43, '/sys/fs/cgroup/pids', 'cgroup', 'rw,pids,release_agent=/x'),
      ].join('\n'),
    );
    expect(plan.hierarchies[0]).toMatchObject({
      folder: 'cpu,cpuacct',
      options: 'cpu,cpuacct',
      controllers: ['cpu', 'cpuacct'],
    });
    expect(plan.hierarchies.map(({ options }) => options)).toEqual(['cpu,cpuacct', 'cpuset', 'memory', 'pids']);
  });

  test('reads a unified host, mounted at the top, and its usable controllers', () => {
    const plan = planCgroups(
      `${line(30, '/sys/fs/cgroup', 'cgroup2', 'rw,nsdelegate')}\n${line(31, '/elsewhere/cgroup', 'cgroup2', 'rw')}`,
      'cpuset cpu io memory hugetlb pids rdma misc\n',
    );
    expect(plan).toEqual({
      version: 2,
      hierarchies: [
        {
          mountPoint: '/sys/fs/cgroup',
          type: 'cgroup2',
          options: '',
          folder: '',
          controllers: ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids'],
        },
      ],
    });
  });

  test('names the missing controllers and the fix', () => {
    expect(() => planCgroups(line(30, '/sys/fs/cgroup', 'cgroup2', 'rw'), 'cpu memory')).toThrow(
      /controllers cpuset, pids are not available \(found: cpu, memory\).*--privileged|privileged/,
    );
    expect(() => planCgroups('')).toThrow(/found: none/);
  });
});

test('gives a machine a cgroup that names its harness', () => {
  expect(cgroupName('demo', 'worker-1')).toBe('steward-e2e.demo.worker-1');
});
