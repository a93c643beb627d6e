import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { clusterctlPatch, clusterctlVariables } from './clusterctl-variables.ts';
import { clusterctlVariablesPage } from './clusterctl-variables-page.ts';
import { readManagerSettings } from './manager-settings.ts';

const root = join(import.meta.dirname, '../..');
const pod = { POD_NAMESPACE: 'steward-system', POD_NAME: 'steward-0' };
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Deployment {
  readonly kind: string;
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } };
  };
}
const ofManifests =
  parseAllDocuments(read('config/manager/manager.yaml'))
    .map((document) => document.toJS() as Deployment)
    .find(({ kind }) => kind === 'Deployment')?.spec.template.spec.containers[0]?.args ?? [];

const texts = clusterctlPatch()
  .filter(({ op }) => op !== 'test')
  .map(({ value }) => value);
const variable = /\$\{(\w+):=([^}]*)\}/g;

describe('The variables of clusterctl', () => {
  test('have a default each, which clusterctl would not see if it were empty', () => {
    const named = [
      ...read('clusterctl/kubeadm-bootstrap-rbac.yaml').matchAll(variable),
      ...texts.join('\n').matchAll(variable),
    ];
    const inTable = new Map(clusterctlVariables.map(({ name, byDefault }) => [name, byDefault || ' ']));
    expect(new Map(named.map(([, name = '', byDefault = '']) => [name, byDefault]))).toEqual(inTable);
    expect(named.every(([, , byDefault]) => byDefault !== '')).toBe(true);
  });

  test('left alone, give the manager of config/manager', () => {
    const flags = texts
      .map((text) => text.replaceAll(variable, '$2').trimEnd())
      .filter((text) => text.startsWith('--'));
    const [, ...before] = ofManifests;
    const kept = before.filter((flag) => flag !== '--datastore=default');
    expect(flags.length).toBeGreaterThan(20);
    expect(readManagerSettings([...kept, ...flags], pod)).toEqual(readManagerSettings(before, pod));
  });

  test('replace the argument of config/manager that they mean', () => {
    expect(clusterctlPatch()[0]).toEqual({
      op: 'test',
      path: '/spec/template/spec/containers/0/args/2',
      value: ofManifests[2],
    });
  });

  test('are all on their page', () => {
    const page = clusterctlVariablesPage();
    for (const { name } of clusterctlVariables) expect(page).toContain(`| \`${name}\` |`);
    expect(page).toContain('| `STEWARD_WATCH_FILTER` | empty |');
  });
});
