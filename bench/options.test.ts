import { describe, expect, test } from '@jest/globals';

import { parseOptions, usage } from './options.ts';

const known = [
  { name: 'ready', help: 'until it works', isQuick: true },
  { name: 'footprint', help: 'what it needs' },
  { name: 'upgrade', help: 'what is noticed', isQuick: true },
  { name: 'hostile', help: 'what others notice' },
];
const parse = (...args: readonly string[]) => parseOptions(args, known);

describe('The command line of the benchmarks', () => {
  test('measures both figures of a cluster with five pairs by default, and writes no result', () => {
    expect(parse()).toEqual({
      figures: ['ready', 'footprint'],
      pairs: 5,
      replicas: [1, 2],
      tenants: [0, 4, 8],
      idleSeconds: 60,
      rounds: 3,
      burst: [8],
      crowd: 30,
      claims: 20,
      controlPlanes: 3,
      upgrades: 5,
      does: ['refuse', 'cut', 'error', 'silent', 'hang', 'bare'],
      hostile: 100,
      innocent: 30,
      churn: [100, 1000, 10_000],
      stores: ['etcd', 'postgres', 'mysql', 'nats'],
      objects: 10_000,
      writingSeconds: 60,
      scale: {
        stages: ['standin', 'rest', 'delete', 'throughput', 'restart', 'onemore', 'events'],
        tenants: [0, 100, 500, 1000, 3000],
        ...{ idleSeconds: 300, managers: 1 },
      },
      chaos: { minutes: 30, managers: 3, shards: false, standIn: 300, real: 10, seed: expect.any(Number) },
      wake: {
        stages: ['first', 'callers', 'sleeping', 'hostile'],
        endpoints: ['ClusterIP', 'NodePort', 'LoadBalancer', 'Ingress', 'Gateway'],
        ...{ rounds: 3, sleeping: 50, hellos: 10_000, idleSeconds: 30 },
      },
      density: { tenants: [10, 30, 60, 100, 150, 200, 300, 500, 700, 1000], seconds: 20 },
      check: false,
      note: undefined,
      json: undefined,
      record: false,
      keep: false,
      cluster: undefined,
      help: false,
    });
  });

  test('accepts single figures and lists of numbers, sorted and without duplicates', () => {
    const options = parse('footprint', '--tenants', '4,0,4', '--idle', '5');
    expect(options).toMatchObject({ figures: ['footprint'], tenants: [0, 4], idleSeconds: 5 });
  });

  test('accepts single kinds of hostile endpoints', () => {
    expect(parse('hostile', '--does', 'hang,cut')).toMatchObject({ figures: ['hostile'], does: ['cut', 'hang'] });
  });

  test('accepts single datastores in their order', () => {
    expect(parse('hostile', '--stores', 'nats,etcd').stores).toEqual(['etcd', 'nats']);
  });

  test('measures scale with numbers of its own, unless they are given, and single stages in their order', () => {
    expect(parse('--quick').scale).toMatchObject({ tenants: [0, 100, 300], idleSeconds: 60 });
    const given = parse('hostile', '--tenants', '50,0', '--idle', '5', '--stages', 'events,rest');
    expect(given.scale).toEqual({ stages: ['rest', 'events'], tenants: [0, 50], idleSeconds: 5, managers: 1 });
  });

  test('measures sleep and wake with numbers of its own, unless they are given, and single stages of it alone', () => {
    expect(parse('--quick').wake).toMatchObject({ rounds: 1, sleeping: 5, hellos: 1000, idleSeconds: 10 });
    const args = ['--stages', 'callers,first', '--rounds', '2', '--sleeping', '8', '--awake', '4', '--idle', '5'];
    const { wake, scale } = parse('hostile', ...args, '--hellos', '50', '--endpoints', 'Gateway,NodePort');
    expect(wake).toEqual({
      stages: ['first', 'callers'],
      endpoints: ['NodePort', 'Gateway'],
      ...{ rounds: 2, sleeping: 8, awake: 4, hellos: 50, idleSeconds: 5 },
    });
    expect(scale.stages).toContain('standin');
    expect(parse('hostile', '--stages', 'rest').wake.stages).toHaveLength(4);
  });

  test('refuses stages of another benchmark in place of its own', () => {
    const both = [...known, { name: 'scale', help: 'many' }, { name: 'wake', help: 'sleep' }];
    const stages = (...args: readonly string[]) => parseOptions([...args, '--stages', 'first'], both).wake.stages;
    expect(stages('wake')).toEqual(['first']);
    expect(() => stages('scale')).toThrow(/--stages first: one or more of standin/);
    expect(() => stages('wake', 'scale')).toThrow(/--stages first: one or more of standin/);
  });

  test('lets several managers share the tenants', () => {
    expect(parse('hostile', '--managers', '2').scale.managers).toBe(2);
    expect(parse('hostile', '--shards').chaos).toMatchObject({ managers: 3, shards: true });
  });

  test('measures density with numbers of its own, and none without tenants', () => {
    expect(parse('--quick').density).toEqual({ tenants: [10, 30], seconds: 10 });
    expect(parse('hostile', '--tenants', '50,0').density).toEqual({ tenants: [50], seconds: 20 });
  });

  test('runs all in the known order, whatever else is named', () => {
    expect(parse('hostile', 'all').figures).toEqual(['ready', 'footprint', 'upgrade', 'hostile']);
  });

  test('measures less with --quick, and of all benchmarks only those that are made for it', () => {
    const less = { pairs: 2, replicas: [1], rounds: 1, upgrades: 1, objects: 500, writingSeconds: 20 };
    expect(parse('all', '--quick')).toMatchObject({ figures: ['ready', 'upgrade'], ...less });
    expect(parse('--quick')).toMatchObject({ figures: ['ready', 'upgrade'], ...less });
    expect(parse('footprint', '--quick', '--pairs', '3')).toMatchObject({ figures: ['footprint'], ...less, pairs: 3 });
  });

  test.each([
    [['speed'], /no benchmark speed; there are ready, footprint, upgrade, hostile and all/],
    [['hostile', '--does', 'bite'], /--does bite: one or more of refuse, cut/],
    [['hostile', '--stores', 'sqlite'], /--stores sqlite: one or more of etcd, postgres/],
    [['hostile', '--hostile', '0'], /--hostile 0: a whole number of at least 1/],
    [['--pairs', '0'], /--pairs 0: a whole number of at least 1/],
    [['--pairs', '1.5'], /--pairs 1.5: a whole number/],
    [['--replicas', '1,x'], /--replicas x: a whole number/],
    [['--tenants', '4'], /--tenants 4: two different numbers/],
    [['hostile', '--stages', 'sleep'], /--stages sleep: one or more of standin, rest, delete.*, of first, callers/],
    [['hostile', '--endpoints', 'Telnet'], /--endpoints Telnet: one or more of ClusterIP, NodePort/],
    [['hostile', '--awake', '0'], /--awake 0: a whole number of at least 1/],
    [['burst', '--burst', '0'], /no benchmark burst/],
    [['--burst', '0'], /--burst 0: a whole number of at least 1/],
  ])('refuses %j with the missing option', (args, message) => {
    expect(() => parseOptions(args, known)).toThrow(message);
  });
});

test('The help has a line for each benchmark, and says which are quick', () => {
  const help = usage(known);
  expect(help).toContain('\n  footprint          what it needs\n');
  expect(help).toContain('without a name or with all: ready, upgrade, in');
});
