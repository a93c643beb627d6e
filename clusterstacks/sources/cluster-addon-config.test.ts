import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';

import { BadReleaseError } from './asset-errors.ts';
import { parseClusterAddonConfig } from './cluster-addon-config.ts';

const written = `apiVersion: clusteraddonconfig.x-k8s.io/v1alpha1
clusterAddonVersion: clusteraddons.clusterstack.x-k8s.io/v1alpha1
addonStages:
  AfterControlPlaneInitialized:
    - name: cni
      action: apply
      timeout: 1m30s
    - name: metrics-server
      action: apply
      waitForPreCondition: {}
      waitForPostCondition:
        conditions: "dep.status.readyReplicas == dep.spec.replicas"
        objects:
          - key: dep
            apiVersion: apps/v1
            kind: Deployment
            name: metrics-server
            namespace: kube-system
  BeforeClusterUpgrade:
    - name: cni
      action: delete
      waitForPreCondition:
        conditions: "node.spec.unschedulable"
        objects: [{ key: node, apiVersion: v1, kind: Node, name: one }]
    - name: cni
      action: apply
  AfterClusterUpgrade:
`;

describe('clusteraddon.yaml', () => {
  test('has the stages of every hook, in order, and what each waits for', () => {
    expect(parseClusterAddonConfig(written)).toEqual({
      stages: {
        AfterControlPlaneInitialized: [
          { name: 'cni', action: 'apply', timeoutMs: 90_000 },
          {
            name: 'metrics-server',
            action: 'apply',
            after: {
              expression: 'dep.status.readyReplicas == dep.spec.replicas',
              objects: [
                {
                  key: 'dep',
                  apiVersion: 'apps/v1',
                  kind: 'Deployment',
                  name: 'metrics-server',
                  namespace: 'kube-system',
                },
              ],
            },
          },
        ],
        BeforeClusterUpgrade: [
          {
            name: 'cni',
            action: 'delete',
            before: {
              expression: 'node.spec.unschedulable',
              objects: [{ key: 'node', apiVersion: 'v1', kind: 'Node', name: 'one' }],
            },
          },
          { name: 'cni', action: 'apply' },
        ],
        AfterClusterUpgrade: [],
      },
    });
  });

  test('without stages has none', () => {
    expect(parseClusterAddonConfig('addonStages:\n')).toEqual({ stages: {} });
    expect(parseClusterAddonConfig('')).toEqual({ stages: {} });
  });

  const first = 'clusteraddon.yaml: addonStages.AfterControlPlaneInitialized[0]';
  test.each([
    [
      'name: cni',
      'name: ../cni',
      `${first}.name is "../cni": use the name of a top-level folder in the add-on archive`,
    ],
    ['name: cni', 'name: cni/x', `${first}.name is "cni/x"`],
    ['action: apply', 'action: install', `${first}.action is "install": use apply or delete`],
    ['timeout: 1m30s', 'timeout: 90', `${first}.timeout is 90: use a Go duration`],
    ['timeout: 1m30s', 'timeout: 0s', `${first}.timeout is "0s": use a Go duration longer than zero`],
    ['timeout: 1m30s', 'timeout: 1d', `${first}.timeout is "1d": use a Go duration`],
    ['timeout: 1m30s', 'Timeout: 1m', `${first}.Timeout is "1m": the field is spelled timeout`],
    [
      'waitForPreCondition: {}',
      'waitForPrecondition: {}',
      'AfterControlPlaneInitialized[1].waitForPrecondition is {}: the field is spelled waitForPreCondition',
    ],
    ['key: dep', 'key: my-dep', 'objects[0].key is "my-dep": use a CEL identifier'],
    ['apiVersion: apps/v1', 'apiversion: apps/v1', 'objects[0].apiVersion is missing: use the group and version'],
    [
      'conditions: "dep.status.readyReplicas == dep.spec.replicas"',
      'conditions: true',
      'waitForPostCondition.conditions is true: use a CEL expression',
    ],
    [
      'objects: [{ key: node,',
      'objects: [{ key: node, apiVersion: v1, kind: Node, name: two }, { key: node,',
      'waitForPreCondition.objects[1].key is "node": another object has this key',
    ],
    [
      'AfterClusterUpgrade:',
      'AfterUpgrade: []',
      'addonStages.AfterUpgrade is []: there is no hook with this name; use one of AfterControlPlaneInitialized, BeforeClusterUpgrade, AfterClusterUpgrade',
    ],
    ['addonStages:', 'addonStages: []\nx:', 'clusteraddon.yaml: addonStages is []: it must be an object'],
    [
      'AfterClusterUpgrade:',
      'AfterClusterUpgrade: { name: cni }',
      'addonStages.AfterClusterUpgrade is {"name":"cni"}: it must be a list',
    ],
    [
      'clusteraddonconfig.x-k8s.io/v1alpha1',
      'clusteraddonconfig.x-k8s.io/v2',
      'only clusteraddonconfig.x-k8s.io/v1alpha1 is supported',
    ],
  ])('with "%s" replaced by "%s" is refused by path, value and remedy', (from, to, message) => {
    const parse = () => parseClusterAddonConfig(written.replace(from, to));
    expect(parse).toThrow(BadReleaseError);
    expect(parse).toThrow(message);
  });

  test('with the same name and action twice in a hook is refused, because progress is kept by that pair', () => {
    expect(() => parseClusterAddonConfig(written.replace('action: delete', 'action: apply'))).toThrow(
      'clusteraddon.yaml: addonStages.BeforeClusterUpgrade[1].name is "cni": stage "apply cni" appears twice in this hook',
    );
  });

  test('is read as it was written, for any stages', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
    const object = fc.record({ apiVersion: name, kind: name, name });
    const wait = fc.record({ expression: fc.string({ minLength: 1 }), objects: fc.array(object, { maxLength: 3 }) });
    const stage = fc.record(
      {
        name,
        action: fc.constantFrom('apply', 'delete'),
        before: wait,
        after: wait,
        seconds: fc.integer({ min: 1, max: 9999 }),
      },
      { requiredKeys: ['name', 'action'] },
    );
    const stages = fc.uniqueArray(stage, { maxLength: 5, selector: (one) => `${one.name} ${one.action}` });
    fc.assert(
      fc.property(stages, (list) => {
        const keyed = list.map(({ before, after, ...rest }) => ({
          ...rest,
          ...(before !== undefined && { before: withKeys(before) }),
          ...(after !== undefined && { after: withKeys(after) }),
        }));
        const yaml = stringify({
          addonStages: {
            AfterClusterUpgrade: keyed.map(({ before, after, seconds, ...rest }) => ({
              ...rest,
              waitForPreCondition: before && { conditions: before.expression, objects: before.objects },
              waitForPostCondition: after && { conditions: after.expression, objects: after.objects },
              timeout: seconds === undefined ? undefined : `${seconds}s`,
            })),
          },
        });
        const expected = keyed.map(({ seconds, ...rest }) => ({
          ...rest,
          ...(seconds !== undefined && { timeoutMs: seconds * 1000 }),
        }));
        expect(parseClusterAddonConfig(yaml).stages.AfterClusterUpgrade).toEqual(expected);
      }),
    );
  });

  test('of any content is either read or refused as a bad release', () => {
    const stages = fc.jsonValue().map((hook) => stringify({ addonStages: { BeforeClusterUpgrade: hook } }));
    const stage = fc.array(
      fc.dictionary(fc.constantFrom('name', 'action', 'timeout', 'waitForPreCondition'), fc.jsonValue()),
    );
    const texts = fc.oneof(
      fc.string(),
      stages,
      stage.map((list) => stringify({ addonStages: { BeforeClusterUpgrade: list } })),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          parseClusterAddonConfig(text);
        } catch (error) {
          expect(error).toBeInstanceOf(BadReleaseError);
        }
      }),
    );
  });
});

const withKeys = <O extends object>(wait: { readonly expression: string; readonly objects: readonly O[] }) => ({
  expression: wait.expression,
  objects: wait.objects.map((object, index) => ({ key: `o${index}`, ...object })),
});
