import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { shopParent, shopTenant } from '../../../testing/builders/plugin-control-planes.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';
import { pluginProgram } from '../program.ts';
import { systemWorld } from '../system-world.ts';
import { complete } from './complete.ts';
import { kubectlCompletion, shellScript } from './shell-scripts.ts';

const world = systemWorld(new AbortController().signal);

/** The candidates for the last word, without their descriptions. */
async function candidates(...words: readonly string[]): Promise<readonly string[]> {
  const lines = (await complete(pluginProgram(world), words, world)).split('\n');
  expect(lines.slice(-2)).toEqual([':4', '']);
  return lines.slice(0, -2).map((line) => line.split('\t')[0] ?? '');
}

describe('Completion', () => {
  test.each([
    [['up'], ['upgrade']],
    [
      ['datastore', ''],
      ['drain', 'help', 'ls', 'verify'],
    ],
    [['ds', 'v'], ['verify']],
    [['get', '--all'], ['--all-namespaces']],
    [
      ['get', '-o', ''],
      ['table', 'wide', 'json', 'yaml', 'name'],
    ],
    [['get', '--output=y'], ['--output=yaml']],
    [['get', '--context', 'x', '--sel'], ['--selector']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', 'kubectl'],
    ],
    [
      ['rotate', 'shop', '--operation', 'rotate-ca'],
      ['rotate-ca-start', 'rotate-ca-complete'],
    ],
    [['frob', ''], []],
    [['create', ''], []],
  ])('of %j offers %j', async (words, expected) => {
    const found = await candidates(...words);
    expect([...found].sort()).toEqual([...expected].sort());
  });

  test('looks up the names of control planes in the namespace that is named', async () => {
    await using surroundings = await PluginWorld.create();
    await surroundings.management.seed(tenantControlPlane, shopTenant());
    await surroundings.management.seed(tenantControlPlane, shopTenant({ name: 'blog', namespace: 'other' }));
    await surroundings.management.seed(stewardControlPlane, shopParent({ name: 'far' }));
    expect((await surroundings.run('__complete upgrade sh')).out).toBe('shop\t\n:4\n');
    expect((await surroundings.run('__complete sleep -n other b')).out).toBe('blog\t\n:4\n');
    expect((await surroundings.run('__complete sleep f')).out).toBe('far\t\n:4\n');
  });

  test('offers nothing, without an error, when there is no cluster', async () => {
    await using surroundings = await PluginWorld.create({ kubeconfig: 'broken: [' });
    expect(await surroundings.run('__complete upgrade sh')).toEqual({ code: 0, out: ':4\n', notes: [] });
  });

  test.each([
    ['bash', shellScript('bash')],
    ['sh', kubectlCompletion],
  ])('prints a script that %s can read', (shell, script) => {
    execFileSync(shell, ['-n'], { input: script });
    expect(script).toContain('kubectl-steward __complete');
  });

  test('bash calls the program with the words and shows its candidates', () => {
    const script = `kubectl-steward() { printf '%s\\n' "$*	text" second ":4"; }
${shellScript('bash')}
COMP_WORDS=(kubectl-steward get sh); COMP_CWORD=2; _kubectl_steward; printf '[%s]' "\${COMPREPLY[@]}"`;
    expect(execFileSync('bash', ['-euc', script], { encoding: 'utf8' })).toBe('[__complete get sh][second]');
  });
});
