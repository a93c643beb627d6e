import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RenderRequest } from '../sources/renderer.ts';
import { HelmRenderer } from './helm-renderer.ts';
import type { HelmOptions } from './helm-renderer.ts';

const { signal } = new AbortController();
const secret = 'correct-horse-battery';
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'renderer-'));
  await mkdir(join(folder, 'chart'));
  await writeFile(join(folder, 'chart', 'Chart.yaml'), 'apiVersion: v2\nname: x\nversion: 1.0.0\n');
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A renderer whose helm is this shell script. It sees `$folder` of the test. */
async function rendererWith(script: string, options: Partial<HelmOptions> = {}): Promise<HelmRenderer> {
  const program = join(folder, 'helm');
  await writeFile(program, `#!/bin/sh\nfolder='${folder}'\n${script}\n`);
  await chmod(program, 0o755);
  return new HelmRenderer({ program, scratch: join(folder, 'scratch'), ...options });
}

const request = (more: Partial<RenderRequest> = {}): RenderRequest => ({
  chart: join(folder, 'chart'),
  releaseName: 'cluster-addon',
  namespace: 'kube-system',
  ...more,
});

describe('The call of helm', () => {
  test('has the documented arguments, and values by standard input only', async () => {
    const renderer = await rendererWith('printf "%s\\n" "$@" > "$folder/args"; cat > "$folder/input"');
    await renderer.render(
      request({ values: `password: ${secret}\n`, kubernetesVersion: 'v1.33.1', apiVersions: ['a.b/v1', 'c/v1'] }),
      signal,
    );
    const args = (await readFile(join(folder, 'args'), 'utf8')).trimEnd().split('\n');
    expect(args).toEqual([
      ...[
        'template',
        'cluster-addon',
        join(folder, 'chart'),
        '--namespace',
        'kube-system',
        '--include-crds',
        '--skip-tests',
      ],
      ...['--kube-version', 'v1.33.1', '--api-versions', 'a.b/v1', '--api-versions', 'c/v1', '--values', '-'],
    ]);
    expect(await readFile(join(folder, 'input'), 'utf8')).toBe(`password: ${secret}\n`);
  });

  test('reads no values if there are none', async () => {
    const renderer = await rendererWith('printf "%s\\n" "$@" > "$folder/args"');
    await renderer.render(request(), signal);
    expect(await readFile(join(folder, 'args'), 'utf8')).not.toContain('--values');
  });

  test('has its own environment, whose folder is deleted afterwards', async () => {
    const before = process.env.HELM_PLUGINS;
    process.env.HELM_PLUGINS = '/elsewhere';
    try {
      const renderer = await rendererWith('env > "$folder/env"; echo left > "$HOME/left"');
      await renderer.render(request(), signal);
    } finally {
      if (before === undefined) delete process.env.HELM_PLUGINS;
      else process.env.HELM_PLUGINS = before;
    }
    const lines = (await readFile(join(folder, 'env'), 'utf8')).trimEnd().split('\n');
    const names = lines
      .map((line) => line.slice(0, line.indexOf('=')))
      .filter((name) => !['_', 'PWD', 'SHLVL', 'OLDPWD'].includes(name));
    expect(names.sort()).toEqual([
      'GOMEMLIMIT',
      'HELM_CACHE_HOME',
      'HELM_CONFIG_HOME',
      'HELM_DATA_HOME',
      'HOME',
      'HTTPS_PROXY',
      'HTTP_PROXY',
      'KUBECONFIG',
      'PATH',
      'TMPDIR',
    ]);
    expect(lines.find((line) => line.startsWith('HOME='))).toContain(join(folder, 'scratch'));
    expect(await readdir(join(folder, 'scratch'))).toEqual([]);
  });
});

describe('A single template', () => {
  test('is expanded by helm in a temporary chart, and is read back unchanged', async () => {
    // Prints the template unchanged; the contract test runs the real helm.
    const renderer = await rendererWith('echo "expanded: \\"$(base64 -w 0 "$3/template.txt")\\""');
    const template = 'name: {{ .Cluster.metadata.name }}\n';
    await expect(renderer.expand({ template, root: {} }, signal)).resolves.toBe(template);
    expect(await readdir(join(folder, 'scratch'))).toEqual([]);
  });

  test('for which helm prints nothing is refused', async () => {
    const renderer = await rendererWith('true');
    await expect(renderer.expand({ template: '', root: {} }, signal)).rejects.toMatchObject({
      failure: 'ChartBroken',
      message: 'helm did not print the expanded template',
    });
  });
});

describe('The result of rendering', () => {
  test('has the objects in the order of the chart, without those for deletion and tests', async () => {
    const of = (name: string, hook = ''): string =>
      `---\napiVersion: v1\nkind: Pod\nmetadata: {name: ${name}${hook === '' ? '' : `, annotations: {helm.sh/hook: "${hook}"}`}}\n`;
    const text = [of('b'), of('a'), of('t', 'test'), of('d', 'pre-delete'), of('i', 'pre-install')].join('');
    await writeFile(join(folder, 'out'), text);
    const renderer = await rendererWith('cat "$folder/out"');
    const manifests = await renderer.render(request(), signal);
    expect(manifests.map(({ metadata }) => metadata.name)).toEqual(['b', 'a', 'i']);
  });

  test('has the error of helm, without the values', async () => {
    const renderer = await rendererWith(`echo "Error: at '/password': '${secret}' does not match pattern" >&2; exit 1`);
    const outcome = renderer.render(request({ values: `password: ${secret}` }), signal);
    await expect(outcome).rejects.toMatchObject({
      failure: 'ChartBroken',
      message: "at '/password': '…' does not match pattern",
    });
    expect(await readdir(join(folder, 'scratch'))).toEqual([]);
  });

  test('distinguishes a chart that excludes the version of Kubernetes', async () => {
    const renderer = await rendererWith(
      'echo "Error: chart requires kubeVersion: >=1.40.0 which is incompatible with Kubernetes v1.33.1" >&2; exit 1',
    );
    await expect(renderer.render(request(), signal)).rejects.toMatchObject({ failure: 'KubernetesVersionExcluded' });
  });

  test('says how to fix a missing helm', async () => {
    const renderer = new HelmRenderer({ program: join(folder, 'nothing'), scratch: join(folder, 'scratch') });
    await expect(renderer.render(request(), signal)).rejects.toMatchObject({
      failure: 'HelmMissing',
      message: expect.stringMatching(
        /nothing cannot be started \(ENOENT\): use the image .*-helm, or set --helm to a helm/,
      ),
    });
  });

  test('refuses a missing chart before helm could download it', async () => {
    const renderer = await rendererWith('touch "$folder/called"');
    const outcome = renderer.render(request({ chart: join(folder, 'absent.tgz') }), signal);
    await expect(outcome).rejects.toMatchObject({
      failure: 'ChartMissing',
      message: 'the release contains no chart absent.tgz',
    });
    expect(await readdir(folder)).not.toContain('called');
  });
});

describe('Limits (defect 10: helm ran without time limit, and all charts one after the other)', () => {
  const hanging = 'echo $$ > "$folder/pid.tmp"; mv "$folder/pid.tmp" "$folder/pid"; exec sleep 600';

  const pidOf = async (): Promise<number> => {
    for (;;) {
      const text = await readFile(join(folder, 'pid'), 'utf8').catch(() => '');
      if (text !== '') return Number(text);
      await setTimeout(5);
    }
  };
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('stops a helm that hangs at its time limit', async () => {
    // Long enough for a shell on a busy machine to write down its number.
    const renderer = await rendererWith(hanging, { timeoutMs: 3_000 });
    const outcome = renderer.render(request(), signal);
    await expect(outcome).rejects.toMatchObject({
      failure: 'TimedOut',
      message: expect.stringContaining('within 3 s'),
    });
    expect(isAlive(await pidOf())).toBe(false);
  });

  test('stops a helm without a waiting caller at once', async () => {
    const renderer = await rendererWith(hanging);
    const stop = new AbortController();
    const outcome = renderer.render(request(), stop.signal);
    const pid = await pidOf();
    stop.abort(new Error('the manager ends'));
    await expect(outcome).rejects.toThrow('the manager ends');
    expect(isAlive(pid)).toBe(false);
  });

  test('stops a helm that prints without end', async () => {
    const renderer = await rendererWith('yes', { maxOutputBytes: 100_000 });
    const outcome = renderer.render(request(), signal);
    await expect(outcome).rejects.toMatchObject({
      failure: 'TooLarge',
      message: expect.stringContaining('100000 bytes'),
    });
  });

  test('stops a helm that uses too much memory, and the message names the fix', async () => {
    const greedy = 'const all = []; setInterval(() => all.push(Buffer.alloc(8 * 1024 * 1024, 1)), 2)';
    const renderer = await rendererWith(`exec '${process.execPath}' -e '${greedy}'`, {
      maxMemoryBytes: 192 * 1024 * 1024,
    });
    await expect(renderer.render(request(), signal)).rejects.toMatchObject({
      failure: 'TooMuchMemory',
      message: expect.stringContaining('more than 192 MiB of memory'),
    });
  });

  test('give helm its memory limit, so that it collects garbage in time', async () => {
    const renderer = await rendererWith('echo "$GOMEMLIMIT" > "$folder/limit"', { maxMemoryBytes: 256 * 1024 * 1024 });
    await renderer.render(request(), signal);
    expect(await readFile(join(folder, 'limit'), 'utf8')).toBe('201326592\n');
  });

  test('leave a turn for others beside slow charts of one namespace, and give a requester one turn at a time', async () => {
    // Those of namespace `slow` end when the file `go` is there.
    const renderer = await rendererWith(
      'echo "$2" >> "$folder/began"; case "$2" in slow-*) until [ -e "$folder/go" ]; do sleep 0.01; done;; esac',
    );
    const began = async (): Promise<readonly string[]> =>
      (await readFile(join(folder, 'began'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    const render = (namespace: string, name: string, releaseName = `${namespace}-${name}`) =>
      renderer.render(request({ releaseName, requester: { namespace, name } }), signal);
    const first = render('slow', 'a');
    while ((await began()).length < 1) await setTimeout(5);
    const again = render('slow', 'a', 'slow-a-again');
    await Promise.all([render('other', 'a'), render('third', 'a')]);
    expect([...(await began())].sort()).toEqual(['other-a', 'slow-a', 'third-a']);
    await writeFile(join(folder, 'go'), '');
    await Promise.all([first, again]);
    expect(await began()).toHaveLength(4);
  });

  test('run two calls concurrently, while a third one waits', async () => {
    // Each counts those that run, itself among them, and ends when the file `go` is there.
    const renderer = await rendererWith(
      'cd "$folder"; touch running.$$; ls running.* | wc -l >> counts; until [ -e go ]; do sleep 0.01; done; rm running.$$',
    );
    const counts = async (): Promise<readonly number[]> =>
      (await readFile(join(folder, 'counts'), 'utf8').catch(() => '')).trim().split(/\s+/).map(Number);
    const all = Promise.all(['a', 'b', 'c'].map((name) => renderer.render(request({ requester: { name } }), signal)));
    while ((await counts()).length < 2) await setTimeout(5);
    await writeFile(join(folder, 'go'), '');
    await all;
    expect(await counts()).toHaveLength(3);
    expect(Math.max(...(await counts()))).toBe(2);
  });
});

describe('A folder of plain manifests', () => {
  const configMap = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
  const renderer = (): HelmRenderer => new HelmRenderer({ program: '/no/helm', scratch: join(folder, 'scratch') });

  beforeEach(async () => {
    await mkdir(join(folder, 'plain'));
    await writeFile(join(folder, 'plain', '2.yaml'), configMap('second'));
    await writeFile(join(folder, 'plain', '1.yaml'), `${configMap('first')}---\n${configMap('also-first')}`);
    await writeFile(join(folder, 'plain', 'README.md'), 'no manifest');
  });

  test('needs no helm and is read in the order of its names', async () => {
    const manifests = await renderer().render(request({ chart: join(folder, 'plain') }), signal);
    expect(manifests.map(({ metadata }) => metadata.name)).toEqual(['first', 'also-first', 'second']);
  });

  test('accepts no values, which would be ignored', async () => {
    const outcome = renderer().render(request({ chart: join(folder, 'plain'), values: 'a: 1' }), signal);
    await expect(outcome).rejects.toThrow('plain contains plain manifests, which take no values');
  });

  test('is reported with the name of the broken file', async () => {
    await writeFile(join(folder, 'plain', '3.yaml'), 'a: [');
    const outcome = renderer().render(request({ chart: join(folder, 'plain') }), signal);
    await expect(outcome).rejects.toThrow('3.yaml, document 1 is not valid YAML');
  });

  test('without manifests is refused', async () => {
    await mkdir(join(folder, 'empty'));
    const outcome = renderer().render(request({ chart: join(folder, 'empty') }), signal);
    await expect(outcome).rejects.toMatchObject({
      failure: 'ChartMissing',
      message: 'empty contains neither Chart.yaml nor manifests (*.yaml)',
    });
  });
});
