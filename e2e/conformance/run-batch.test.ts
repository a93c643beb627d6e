import { describe, expect, test } from '@jest/globals';

import { batchArguments } from './run-batch.ts';

const stage = { kubeconfig: '/k', kubectl: '/bin/kubectl' };

describe('The arguments of e2e.test', () => {
  test('select exactly the tests of the batch', () => {
    const names = ['[sig-node] Pods should run (a.b) [Conformance]', '[sig-apps] Job {x} [Conformance]'];
    const words = batchArguments(
      names.map((name) => ({ name, sig: '', serial: false })),
      { stage, folder: '/out', limitMs: 61_000 },
    );
    const focus = words.find((word) => word.startsWith('--ginkgo.focus='))?.slice('--ginkgo.focus='.length) ?? '';
    for (const name of names) expect(new RegExp(focus).test(`Kubernetes e2e suite ${name}`)).toBe(true);
    expect(new RegExp(focus).test('[sig-node] Pods should run (aXb) [Conformance]')).toBe(false);
    expect(words).toEqual(expect.arrayContaining(['--ginkgo.timeout=61s', '--ginkgo.json-report=/out/report.json']));
  });
});
