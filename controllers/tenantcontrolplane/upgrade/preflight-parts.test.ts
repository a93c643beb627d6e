import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { nodePagePath, parseNodePage } from './node-page.ts';
import { removedApis } from './removed-apis.ts';
import { holdFor, kubeletBlocker, outdatedKubelets } from './upgrade-hold.ts';

const to = parseVersion('v1.36.3');
const line = (labels: Readonly<Record<string, string>>, value = '1'): string => {
  const pairs = Object.entries({
    group: 'g.k8s.io',
    version: 'v1beta1',
    resource: 'things',
    subresource: '',
    ...labels,
  });
  return `apiserver_requested_deprecated_apis{${pairs.map(([name, text]) => `${name}="${text}"`).join(',')}} ${value}\n`;
};

describe('removedApis', () => {
  test.each<[string, string, readonly string[]]>([
    ['gone in the version', line({ removed_release: '1.36' }), ['things of g.k8s.io/v1beta1']],
    ['gone before', line({ removed_release: '1.9' }), ['things of g.k8s.io/v1beta1']],
    ['gone later', line({ removed_release: '1.37' }), []],
    ['not to be removed, such as componentstatuses', line({ group: '', removed_release: '' }), []],
    ['of the core group', line({ group: '', removed_release: '1.36' }), ['things of v1beta1']],
    [
      'counted as a whole number with a fraction',
      line({ removed_release: '1.36' }, '1.0'),
      ['things of g.k8s.io/v1beta1'],
    ],
    ['counted zero', line({ removed_release: '1.36' }, '0'), []],
    ['of another major version', line({ removed_release: '2.1' }), []],
    ['in a comment', `# ${line({ removed_release: '1.36' })}`, []],
    ['of another gauge', line({ removed_release: '1.36' }).replace('requested', 'forgotten'), []],
    [
      'requested from several API servers, and by subresource',
      line({ removed_release: '1.36' }).repeat(2) + line({ removed_release: '1.36', subresource: 'status' }),
      ['things of g.k8s.io/v1beta1'],
    ],
    [
      'with names that are not valid',
      line({ removed_release: '1.36', resource: '<b>;\u202e' }),
      ['?b??? of g.k8s.io/v1beta1'],
    ],
  ])('decides whether the upgrade removes what is %s', (_what, metrics, found) => {
    expect(removedApis(`# TYPE x gauge\n${metrics}go_goroutines 7\n`, to)).toEqual(found);
  });

  test('never fails, whatever an API server answers', () => {
    const noise = fc.oneof(fc.string(), fc.constantFrom('apiserver_requested_deprecated_apis{', '} 1', '"', '\n'));
    fc.assert(
      fc.property(fc.array(noise), (parts) => {
        expect(Array.isArray(removedApis(parts.join(''), to))).toBe(true);
      }),
    );
  });

  test('takes no longer for a long line of labels without an end', () => {
    const began = process.cpuUsage();
    removedApis(`apiserver_requested_deprecated_apis{${'a="'.repeat(1_000_000)}`, to);
    removedApis(line({ removed_release: '1.36', resource: 'x'.repeat(4_000_000) }), to);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(10_000);
  });
});

describe('a page of nodes', () => {
  test('is requested by its size and the token of its beginning', () => {
    expect(nodePagePath(undefined)).toBe('/api/v1/nodes?limit=100');
    expect(nodePagePath('a&b=c')).toBe('/api/v1/nodes?limit=100&continue=a%26b%3Dc');
  });

  test('has names and kubelets, also of nodes that have not reported theirs', () => {
    const items = [
      { metadata: { name: 'a' }, status: { nodeInfo: { kubeletVersion: 'v1.35.4+k3s1' } } },
      { metadata: { name: 'b' } },
      null,
      { metadata: { name: 7 }, status: { nodeInfo: { kubeletVersion: '<b>' } } },
    ];
    const page = parseNodePage(JSON.stringify({ kind: 'NodeList', metadata: { continue: 'x' }, items }));
    expect(page).toEqual({
      kubelets: [
        { node: 'a', version: 'v1.35.4+k3s1' },
        { node: 'b', version: '' },
        { node: '', version: '' },
        { node: '', version: '?b?' },
      ],
      next: 'x',
    });
    expect(parseNodePage('{"kind":"NodeList","metadata":{"continue":""},"items":null}')).toEqual({ kubelets: [] });
  });

  test.each(['{}', '"nodes"', '1', 'true'])('whose items are %s is none', (items) => {
    expect(parseNodePage(`{"kind":"NodeList","items":${items}}`)).toBeUndefined();
  });

  test('never fails, whatever an API server answers', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
        parseNodePage(body);
        parseNodePage(`{"kind":"NodeList","metadata":${body === '' ? 'null' : body},"items":[${body}]}`);
      }),
    );
  });
});

describe('kubelets', () => {
  test('that are more than three minors older hold an upgrade, and no others', () => {
    const versions = ['v1.32.9', 'v1.33.0', 'v1.36.3', 'v1.37.0', '', 'v1.32.0-alpha.1', 'nonsense', 'v1.32.4+k3s1'];
    const late = outdatedKubelets(
      versions.map((version, index) => ({ node: `n${index}`, version })),
      to,
    );
    expect(late.map(({ version }) => version)).toEqual(['v1.32.9', 'v1.32.0-alpha.1', 'v1.32.4+k3s1']);
  });

  test('are named in one order, however the API server lists them', () => {
    const step = { from: parseVersion('v1.35.4'), to };
    const late = ['b', 'a', 'c'].map((node) => ({ node, version: 'v1.30.0' }));
    expect(kubeletBlocker(late, step)).toEqual(kubeletBlocker([...late].reverse(), step));
  });

  test('that are fine, with everything else, hold nothing', () => {
    expect(holdFor({ from: parseVersion('v1.35.4'), to }, kubeletBlocker([], { from: to, to }))).toBeUndefined();
  });
});
