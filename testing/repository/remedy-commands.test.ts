import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { allKinds } from '../../api/all-kinds.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { kinds } from '../../api/core/kinds.ts';
import { annotations, backupComponents, labels, migrationComponent, project } from '../../api/names.ts';
import { commonRemedies } from '../../api/remedies/common-remedies.ts';
import { remedyTable } from '../../api/remedies/remedy-table.ts';
import type { RemediedKind } from '../../api/remedies/remedy-table.ts';
import type { Remedy } from '../../api/remedies/remedy.ts';
import { podRemedies } from '../../cmd/plugin/explain/pod-remedies.ts';

/** What kubectl knows beside the kinds that the project defines or uses: name → whether it is namespaced. */
const others: Readonly<Record<string, boolean>> = {
  apiservice: false,
  clusters: true,
  gateways: true,
  resourcequotas: true,
  tlsroutes: true,
};

/** Whether a resource is namespaced, by the names that kubectl takes for it. */
const namespacedByName = new Map<string, boolean>([
  ...Object.entries(others),
  ...[...Object.values(kinds), ...allKinds].flatMap((kind): readonly [string, boolean][] =>
    [kind.plural, kind.kind.toLowerCase(), ...('shortNames' in kind ? kind.shortNames : [])].map((name) => [
      name,
      kind.namespaced,
    ]),
  ),
]);

/** What code sets as values of these labels. */
const valuesOf: Readonly<Record<string, readonly string[]>> = {
  [labels.component]: [...Object.values(backupComponents), migrationComponent],
  [labels.name]: ['<name>'],
  [labels.migrationTenant]: ['<name>'],
  [labels.migrationNamespace]: ['<namespace>'],
  [clusterNameLabel]: ['<cluster>'],
  'app.kubernetes.io/name': [project],
};

/** The names of objects of these kinds. Of others a command names none, or a fixed one. */
const nameOf: Readonly<Record<string, readonly string[]>> = {
  datastore: ['<datastore>'],
  deployment: ['<name>'],
  retainedcontrolplane: ['<namespace>.<name>'],
  namespace: ['<namespace>'],
  service: ['<name>'],
  tcp: ['<name>'],
};

/** The kinds whose name is that of the control plane. */
const named: readonly string[] = ['TenantControlPlane', 'StewardControlPlane'];

const withoutQuotes = (text: string): string => text.replaceAll(/^['"]|['"]$/g, '');

/** What is wrong with a label selector. */
function selectorProblems(selector: string): readonly string[] {
  const parts = selector.split(/,(?![^(]*\))/);
  return parts.flatMap((part) => {
    const [, key = '', single, list = ''] = /^([^ =]+)(?:=(.*)| in \((.*)\))?$/.exec(part) ?? [];
    const known = valuesOf[key];
    if (known === undefined) return [`no label ${key}`];
    return (single === undefined ? list.split(',') : [single])
      .filter((value) => !known.includes(value))
      .map((value) => `no value ${value} of label ${key}`);
  });
}

/** What is wrong with the resource, the name and the namespace in a command of kubectl. */
function resourceProblems(resource: string, name: string | undefined, of: { flags: string; kind: string }): string[] {
  const { flags, kind } = of;
  const isNamespaced = namespacedByName.get(resource);
  if (isNamespaced === undefined) return [`no resource ${resource}`];
  const scoped = /(^| )(-n|-A)( |$)/.test(flags);
  const found = isNamespaced === scoped ? [] : [`${resource} ${isNamespaced ? 'needs' : 'has no'} namespace`];
  const names = nameOf[resource] ?? (resource === kind.toLowerCase() ? ['<name>'] : []);
  const isOwn = resource !== 'tcp' || named.includes(kind);
  if (name?.startsWith('<') === true && !(names.includes(name) && isOwn) && !name.startsWith('<name>-'))
    found.push(`${resource} has another name than ${name}`);
  return found;
}

/** What is wrong with a command in a remedy for a kind. */
function problemsOf(command: string, kind: string): readonly string[] {
  const words = (command.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map(withoutQuotes);
  const [program, ...rest] = words;
  if (program === 'clusterctl') return command.includes(' cluster <cluster> ') ? [] : ['clusterctl takes a Cluster'];
  if (program !== 'kubectl') return [`no program ${program ?? ''}`];
  if (rest[0] === 'steward') {
    const [, name = '', argument = ''] = rest;
    const isCommand = existsSync(join(import.meta.dirname, `../../cmd/plugin/commands/${name}.ts`));
    const isNamed = argument !== '<name>' || named.includes(kind);
    return [
      ...(isCommand ? [] : [`no command ${name}`]),
      ...(isNamed ? [] : [`<name> is no control plane of a ${kind}`]),
    ];
  }
  const plain: string[] = [];
  const flags: string[] = [];
  const found: string[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? '';
    if (['-n', '-l', '-o', '-k', '--context', '--type', '-p'].includes(word)) {
      const value = rest[(at += 1)] ?? '';
      flags.push(word);
      if (word === '-l') found.push(...selectorProblems(value));
      if (word === '-n' && !['<namespace>', 'steward-system', 'default'].includes(value)) found.push(`-n ${value}`);
      if (word === '--context' && value !== '<namespace>-<name>') found.push(`no context ${value}`);
    } else if (word.startsWith('-')) flags.push(word);
    else plain.push(word);
  }
  const [verb = '', first = '', name] = plain;
  // They name no resource.
  if (verb === 'logs' || verb === 'apply' || verb === 'events') return found;
  const targets = first.includes('/') ? plain.slice(1).map((one) => one.split('/')[0] ?? '') : first.split(',');
  const of = { flags: flags.join(' '), kind };
  return [
    ...found,
    ...targets.flatMap((resource) => resourceProblems(resource, first.includes('/') ? undefined : name, of)),
  ];
}

/** What is wrong with the commands of a remedy together: the tenant's objects are behind the context that `kubeconfig` adds. */
function orderProblems(commands: readonly string[]): readonly string[] {
  const access = commands.findIndex((command) => command.startsWith('kubectl steward kubeconfig '));
  return commands.flatMap((command, at) => {
    const isInside = command.startsWith('kubectl --context ');
    if (isInside && (access === -1 || at < access)) return [`no context yet: ${command}`];
    if (!isInside && access !== -1 && at > access) return [`not in the tenant: ${command}`];
    return [];
  });
}

/** The labels and annotations of the project in a text that it does not have. */
function keyProblems(text: string): readonly string[] {
  const keys: readonly string[] = [...Object.values(annotations), ...Object.values(labels)];
  return [...text.matchAll(/(?:[a-z]+\.)?steward\.butlerlabs\.dev\/[a-z_-]*[a-z]/g)]
    .map(([key]) => key)
    .filter((key) => !keys.includes(key))
    .map((key) => `no label or annotation ${key}`);
}

function remedyProblems({ text, commands = [] }: Remedy, kind: string): readonly string[] {
  return [
    ...commands.flatMap((command) => problemsOf(command, kind)),
    ...orderProblems(commands),
    ...[text, ...commands].flatMap(keyProblems),
  ];
}

const remedies = [
  ...(Object.keys(remedyTable) as RemediedKind[]).flatMap((kind) =>
    Object.entries(remedyTable[kind] as Readonly<Record<string, Readonly<Record<string, Remedy>>>>).flatMap(
      ([type, ofType]) => Object.entries(ofType).map(([reason, remedy]) => ({ kind, type, reason, remedy })),
    ),
  ),
  ...Object.entries(commonRemedies).map(([reason, remedy]) => ({ kind: 'any kind', type: '', reason, remedy })),
  ...Object.entries(podRemedies).map(([reason, remedy]) => ({
    ...{ kind: 'TenantControlPlane', type: 'pods:', reason, remedy },
  })),
];

describe('The commands of remedies', () => {
  test('name only resources, scopes, labels and contexts that exist', () => {
    const wrong = remedies.flatMap(({ kind, type, reason, remedy }) =>
      remedyProblems(remedy, kind).map((problem) => `${kind} ${type} ${reason}: ${problem}`),
    );
    expect(wrong).toEqual([]);
    expect(remedies.flatMap(({ remedy: { commands = [] } }) => commands).length).toBeGreaterThan(150);
  });

  test.each([
    ['kubectl -n <namespace> describe retainedcontrolplane <name>', 'retainedcontrolplane has no namespace'],
    ['kubectl describe retainedcontrolplane <name>', 'retainedcontrolplane has another name than <name>'],
    ['kubectl -n steward-system get pods -l steward.butlerlabs.dev/component=backups', 'no value backups of label'],
    ["kubectl -n steward-system get pods -l 'steward.butlerlabs.dev/component in (backup,x)'", 'no value x of label'],
    [
      'kubectl -n <namespace> get pods -l steward.butlerlabs.dev/tenant=<name>',
      'no label steward.butlerlabs.dev/tenant',
    ],
    ['kubectl get tenantcontrolplane <name>', 'tenantcontrolplane needs namespace'],
    ['kubectl -n <namespace> get controlplanes', 'no resource controlplanes'],
    ['kubectl -n <namespace> describe tcp <name>', 'tcp has another name than <name>'],
    ['kubectl steward sleep <name> -n <namespace>', '<name> is no control plane of a TenantRestore'],
    ['kubectl steward awake', 'no command awake'],
    ['kubectl --context <namespace>-<name> get nodes', 'no context yet'],
    ['clusterctl describe cluster <name> -n <namespace>', 'clusterctl takes a Cluster'],
    ['kubectl annotate datastore <datastore> steward.butlerlabs.dev/adopt=x', 'no label or annotation'],
  ])('that are wrong are found: %s', (command, problem) => {
    expect(remedyProblems({ text: '', commands: [command], passes: true }, 'TenantRestore')).toContainEqual(
      expect.stringContaining(problem),
    );
  });

  test('that leave the tenant for the management cluster are found', () => {
    const commands = ['kubectl steward kubeconfig <name> -n <namespace>', 'kubectl get nodes'];
    expect(remedyProblems({ text: '', commands, passes: true }, 'TenantControlPlane')).toEqual([
      'not in the tenant: kubectl get nodes',
    ]);
  });
});
