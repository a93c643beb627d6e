import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { HelmRenderer } from './helm-renderer.ts';

const { signal } = new AbortController();
let helm = '';
let folder = '';
let renderer: HelmRenderer;

beforeAll(async () => {
  ({ helm } = await resolveTools(['helm']));
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'helm-'));
  renderer = new HelmRenderer({ program: helm, scratch: join(folder, 'scratch') });
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const chartYaml = (more = ''): string => `apiVersion: v2\nname: probe\nversion: v0-sha.rwvgrna\n${more}`;
const configMap = (body: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  namespace: {{ .Release.Namespace }}\ndata:\n${body}`;

const request = (chart = 'probe') => ({
  chart: join(folder, chart),
  releaseName: 'docker-scs-1-33',
  namespace: 'kube-system',
});

describe('The real helm renders', () => {
  test('a folder: names, values, versions of Kubernetes and APIs, definitions first, tests and deletion left out', async () => {
    await write({
      'probe/Chart.yaml': chartYaml(),
      'probe/values.yaml': 'color: blue\nsize: 1\n',
      'probe/crds/crd.yaml':
        'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: c}\n',
      'probe/templates/a.yaml': configMap(
        '  color: {{ .Values.color }}{{ .Values.size }}\n  kubernetes: {{ .Capabilities.KubeVersion.Version }}\n' +
          '  class: {{ .Release.Name }}-{{ .Chart.Version }}\n  monitoring: {{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" | quote }}\n' +
          '  mode: 0644\n',
      ),
      'probe/templates/test.yaml':
        'apiVersion: v1\nkind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n',
      'probe/templates/hook.yaml':
        'apiVersion: v1\nkind: Pod\nmetadata: {name: d, annotations: {helm.sh/hook: post-delete}}\n',
      'probe/templates/install.yaml':
        'apiVersion: v1\nkind: Pod\nmetadata: {name: i, annotations: {helm.sh/hook: pre-install}}\n',
    });
    const manifests = await renderer.render(
      { ...request(), values: 'color: red\n', kubernetesVersion: 'v1.33.1', apiVersions: ['monitoring.coreos.com/v1'] },
      signal,
    );
    expect(manifests.map(({ metadata }) => metadata.name)).toEqual(['c', 'docker-scs-1-33', 'i']);
    expect(manifests[1]).toMatchObject({
      metadata: { namespace: 'kube-system' },
      data: {
        color: 'red1',
        kubernetes: 'v1.33.1',
        class: 'docker-scs-1-33-v0-sha.rwvgrna',
        monitoring: 'true',
        mode: 420,
      },
    });
  });

  test('a package', async () => {
    await write({ 'probe/Chart.yaml': chartYaml(), 'probe/templates/a.yaml': configMap('  a: b\n') });
    await promisify(execFile)(helm, ['package', join(folder, 'probe'), '--destination', folder]);
    const manifests = await renderer.render(request('probe-v0-sha.rwvgrna.tgz'), signal);
    expect(manifests).toMatchObject([{ kind: 'ConfigMap', data: { a: 'b' } }]);
  });

  test('no chart that excludes this version of Kubernetes', async () => {
    await write({
      'probe/Chart.yaml': chartYaml('kubeVersion: ">=1.34.0-0"\n'),
      'probe/templates/a.yaml': configMap('  a: b\n'),
    });
    await expect(renderer.render({ ...request(), kubernetesVersion: 'v1.33.1' }, signal)).rejects.toMatchObject({
      failure: 'KubernetesVersionExcluded',
      message: 'chart requires kubeVersion: >=1.34.0-0 which is incompatible with Kubernetes v1.33.1',
    });
    expect(await renderer.render({ ...request(), kubernetesVersion: 'v1.34.0' }, signal)).toHaveLength(1);
  });

  test.each([
    [
      'chart that fails',
      configMap('  a: {{ fail "choose a color" }}\n'),
      undefined,
      /templates\/a\.yaml:7:\d+.*choose a color/,
    ],
    [
      'value that is not there',
      configMap('  a: {{ required "color is needed" .Values.color }}\n'),
      undefined,
      /color is needed/,
    ],
    ['template that is none', configMap('  a: {{ nothing }}\n'), undefined, /function "nothing" not defined/],
    ['object that is no YAML', configMap('  a: [\n'), undefined, /a\.yaml/],
    ['values that are no YAML', configMap('  a: b\n'), 'a: [', /yaml/],
    ['values that are no map', configMap('  a: b\n'), '- a', /array/],
  ])('No %s, and reports which and why', async (_, template, values, message) => {
    await write({ 'probe/Chart.yaml': chartYaml(), 'probe/templates/a.yaml': template });
    const outcome = renderer.render({ ...request(), values }, signal);
    await expect(outcome).rejects.toMatchObject({ failure: 'ChartBroken', message: expect.stringMatching(message) });
  });

  test('no chart with a dependency that is not in the release, which is not downloaded', async () => {
    await write({
      'probe/Chart.yaml': chartYaml(
        'dependencies:\n- {name: cilium, version: 1.0.0, repository: "http://127.0.0.1:1/"}\n',
      ),
      'probe/templates/a.yaml': configMap('  a: b\n'),
    });
    await expect(renderer.render(request(), signal)).rejects.toThrow(/missing in charts\/ directory: cilium/);
  });

  test('no value into a message, also where the schema of values quotes it', async () => {
    await write({
      'probe/Chart.yaml': chartYaml(),
      'probe/templates/a.yaml': configMap('  a: b\n'),
      'probe/values.schema.json': '{"properties": {"password": {"pattern": "^[0-9]+$"}}}',
    });
    const outcome = renderer.render({ ...request(), values: 'password: correct-horse-battery\n' }, signal);
    await expect(outcome).rejects.toThrow(/password/);
    await expect(outcome).rejects.not.toThrow('correct-horse');
  });

  test('without a network request, whatever a schema of values refers to', async () => {
    await write({
      'probe/Chart.yaml': chartYaml(),
      'probe/templates/a.yaml': configMap('  a: b\n'),
      'probe/values.schema.json': '{"$ref": "http://schemas.example/schema.json"}',
    });
    // The proxy for helm, at which no server listens.
    await expect(renderer.render({ ...request(), values: 'a: b\n' }, signal)).rejects.toThrow(/127\.0\.0\.1:9/);
  });
});

describe('The real helm expands', () => {
  const root = {
    Cluster: {
      metadata: { name: 'a', generation: 12345678 },
      spec: {
        paused: false,
        controlPlaneEndpoint: { host: '10.0.0.1', port: 6443 },
        topology: {
          variables: [
            { name: 'quota', value: 1000000 },
            { name: 'ratio', value: 0.5 },
            { name: 'none', value: null },
          ],
        },
      },
    },
  };

  test('templates of existing stacks: names, endpoints, variables, blocks', async () => {
    const template = [
      'values: |',
      '  cluster: {{ .Cluster.metadata.name }}',
      '  host: {{ .Cluster.spec.controlPlaneEndpoint.host }}:{{ .Cluster.spec.controlPlaneEndpoint.port }}',
      '  {{- range .Cluster.spec.topology.variables }}',
      '  {{- if and (eq .name "ratio") .value }}',
      '  ratio: {{ .value | toYaml | nindent 4 }}',
      '  {{- end }}{{ end }}',
      '  missing: {{ .ControlPlane }}{{ .Cluster.status }}.',
      '',
    ].join('\n');
    expect(await renderer.expand({ template, root }, signal)).toBe(
      'values: |\n  cluster: a\n  host: 10.0.0.1:6443\n  ratio: \n    0.5\n  missing: .\n',
    );
  });

  test('whole numbers of any size as they are, and compares them with those of the template', async () => {
    const template =
      '{{ .Cluster.metadata.generation }} {{ (index .Cluster.spec.topology.variables 0).value }} ' +
      '{{ if eq .Cluster.spec.controlPlaneEndpoint.port 6443 }}equal{{ end }} {{ add .Cluster.metadata.generation 1 }} ' +
      '{{ printf "%T" .Cluster.metadata.generation }} {{ .Cluster | toJson }}';
    expect(await renderer.expand({ template, root }, signal)).toBe(
      `12345678 1000000 equal 12345679 int64 ${JSON.stringify(root.Cluster, sorted)}`,
    );
  });

  test.each(['env "HOME"', 'expandenv "$HOME"'])(
    'no {{ %s }}: authors of stacks do not read the environment',
    async (call) => {
      const name = call.slice(0, call.indexOf(' '));
      await expect(renderer.expand({ template: `a\n{{ ${call} }}`, root }, signal)).rejects.toThrow(
        `line 2: function "${name}" not defined`,
      );
    },
  );

  test('no template with an error, and names the line', async () => {
    const outcome = renderer.expand({ template: 'a: 1\nb: {{ .Cluster.metadata.name.first }}\n', root }, signal);
    await expect(outcome).rejects.toMatchObject({
      failure: 'ChartBroken',
      message: expect.stringMatching(/^line 2:\d+: .*first/),
    });
  });

  test('characters that YAML does not allow, unchanged', async () => {
    const name = 'a\u0000\u007f\u0080\u009f\ufeff\ufffe\uffff\u2028b';
    const expanded = (template: string) => renderer.expand({ template, root: { name } }, signal);
    expect(await expanded('{{ .name }}')).toBe(name);
    expect(await expanded('\u0085\ufeff{{ .name }}\u0085')).toBe(`\u0085\ufeff${name}\u0085`);
    expect(await expanded('')).toBe('');
  });

  test('any JSON, unchanged', async () => {
    const texts = fc.record({
      a: fc.string({ unit: 'grapheme' }),
      b: fc.string({ unit: 'binary' }),
      c: fc.jsonValue(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { maxLength: 20 }), async (values) => {
        const expanded = await renderer.expand({ template: '{{ .root | toJson }}', root: { root: values } }, signal);
        expect(JSON.parse(expanded)).toEqual(JSON.parse(JSON.stringify(values)));
      }),
      { numRuns: 15, endOnFailure: true },
    );
  }, 60_000);
});

/** Go prints the fields of maps in alphabetical order. */
function sorted(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
