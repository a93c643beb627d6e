import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { stringify } from 'yaml';
import { KubeconfigError, readKubeconfig } from './kubeconfig.ts';

const pem = (what: string): string => `-----BEGIN ${what}-----\nAAAA\n-----END ${what}-----\n`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = 'hunter2-hunter2';

interface Parts {
  readonly cluster?: Record<string, unknown>;
  readonly user?: Record<string, unknown>;
  readonly context?: Record<string, unknown>;
  readonly top?: Record<string, unknown>;
}

const kubeconfig = ({ cluster, user, context, top }: Parts = {}): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: context ?? { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: cluster ?? { server: 'https://api.example.com:6443' } }],
    users: [{ name: 'u', user: user ?? { token: secret } }],
    ...top,
  });

describe('A kubeconfig', () => {
  test('with embedded certificates becomes a connection', () => {
    const text = kubeconfig({
      cluster: {
        server: 'https://[fd00::1]:6443/prefix/',
        'certificate-authority-data': base64(pem('CERTIFICATE')),
        'tls-server-name': 'api',
      },
      user: { 'client-certificate-data': base64(pem('CERTIFICATE')), 'client-key-data': base64(pem('PRIVATE KEY')) },
    });
    expect(readKubeconfig(text).access).toEqual({
      server: 'https://[fd00::1]:6443/prefix',
      ca: pem('CERTIFICATE'),
      tlsServerName: 'api',
      clientCert: pem('CERTIFICATE'),
      clientKey: pem('PRIVATE KEY'),
    });
  });

  test('is read once, and again where files may be read', () => {
    const [text, files] = [kubeconfig(), kubeconfig({ user: { 'client-certificate': 'a', 'client-key': 'b' } })];
    expect(readKubeconfig(text)).toBe(readKubeconfig(text));
    const readFile = (path: string): string => `${path}!`;
    for (let round = 0; round < 2; round += 1) {
      expect(readKubeconfig(files, { readFile }).access).toMatchObject({ clientCert: 'a!', clientKey: 'b!' });
      expect(() => readKubeconfig(files)).toThrow(/files are not supported here/);
      expect(readKubeconfig(text, { context: 'here' })).toEqual(readKubeconfig(text));
    }
  });

  test('is not kept once nobody uses it', async () => {
    const read = new WeakRef(readKubeconfig(kubeconfig()));
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
    for (let pass = 0; pass < 3; pass += 1) await collect({ execution: 'async', type: 'major' });
    expect(read.deref()).toBeUndefined();
  });

  test('shows the cluster and the user of its context', () => {
    expect(readKubeconfig(kubeconfig())).toMatchObject({ cluster: 'c', user: 'u' });
  });

  test('is read with another context if one is given', () => {
    const top = {
      contexts: [
        { name: 'here', context: { cluster: 'c', user: 'absent' } },
        { name: 'there', context: { cluster: 'c', user: 'u' } },
      ],
    };
    expect(readKubeconfig(kubeconfig({ top }), { context: 'there' }).access.token).toBe(secret);
    expect(() => readKubeconfig(kubeconfig({ top }))).toThrow('users: no user named "absent"');
  });

  test('reads files only through the given reader, and leaves a token file a file', () => {
    const text = kubeconfig({
      cluster: { server: 'https://a', 'certificate-authority': 'ca.crt' },
      user: { tokenFile: '/var/token', token: 'older' },
    });
    expect(() => readKubeconfig(text)).toThrow('embed it as certificate-authority-data');
    const token = kubeconfig({ user: { tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' } });
    expect(() => readKubeconfig(token)).toThrow('user "u": tokenFile: files are not supported here');
    expect(readKubeconfig(text, { readFile: (path) => `read ${path}` }).access).toEqual({
      server: 'https://a',
      ca: 'read ca.crt',
      tokenFile: '/var/token',
    });
  });

  test.each([
    'https://10.0.0.1:6443',
    'https://[fd00::1]:6443',
    'https://API.example.com.',
    'https://my_node:6443/a;b',
  ])('may name the server %s', (server) => {
    expect(readKubeconfig(kubeconfig({ cluster: { server } })).access.server).toBe(server);
  });

  test.each<[string, Parts, RegExp]>([
    [
      'an exec plugin',
      { user: { exec: { command: 'aws' } } },
      /user "u": exec: credential plugins are not supported; use a client certificate/,
    ],
    [
      'an auth provider',
      { user: { 'auth-provider': { name: 'gcp' } } },
      /auth-provider: auth providers are not supported/,
    ],
    ['a password', { user: { username: 'a', password: secret } }, /username: basic authentication/],
    ['impersonation', { user: { token: secret, as: 'root' } }, /as: impersonated users/],
    ['groups without a user', { user: { token: secret, 'as-groups': ['x'] } }, /as-groups: impersonated groups/],
    ['a UID without a user', { user: { token: secret, 'as-uid': '7' } }, /as-uid: impersonated UIDs/],
    [
      'no verification',
      { cluster: { server: 'https://a', 'insecure-skip-tls-verify': true } },
      /cluster "c": insecure-skip-tls-verify/,
    ],
    ['a proxy', { cluster: { server: 'https://a', 'proxy-url': 'http://p' } }, /proxy-url: proxies/],
    ['plain HTTP', { cluster: { server: 'http://a' } }, /server must be an https:/],
    [
      'a host that a shell would run',
      { cluster: { server: 'https://a;id;$(reboot).evil:6443' } },
      /cluster "c": server: the host "a;id;\$\(reboot\)\.evil" is neither a DNS name nor an IP address/,
    ],
    ['no server', { cluster: {} }, /cluster "c": server is missing/],
    ['no credentials', { user: {} }, /user "u": no credentials/],
    ['a key without certificate', { user: { 'client-key-data': base64(pem('PRIVATE KEY')) } }, /must be set together/],
    [
      'data that is no PEM',
      { user: { 'client-key-data': base64(secret), 'client-certificate-data': 'x' } },
      /not a base64-encoded PEM/,
    ],
    ['a number as name', { context: { cluster: 3, user: 'u' } }, /cluster must be a string/],
    ['no current context', { top: { 'current-context': '' } }, /current-context is empty/],
  ])('with %s is refused with the name of the field, without showing a secret', (_what, parts, message) => {
    const parse = () => readKubeconfig(kubeconfig(parts));
    expect(parse).toThrow(KubeconfigError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(secret);
  });

  test('that is not YAML is refused without quoting it', () => {
    expect(() => readKubeconfig(`users: [{ token: "${secret}`)).toThrow(/^kubeconfig: not YAML at line 1 \([A-Z_]+\)$/);
    expect(() => readKubeconfig('a: &a [*a]')).toThrow(KubeconfigError);
    expect(() => readKubeconfig('')).toThrow('not a map');
  });

  test('of any content throws no other error than its own', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constant({ server: 'https://a' }), fc.constant({ token: 't' }));
    const document = fc.record({
      'current-context': fc.constantFrom('here', ''),
      contexts: value,
      clusters: value,
      users: value,
    });
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      document.map((one) => stringify(one)),
      fc.record({ cluster: value, user: value, context: value }).map((parts) => kubeconfig(parts as Parts)),
    );
    fc.assert(
      fc.property(text, (content) => {
        try {
          readKubeconfig(content);
        } catch (error) {
          expect(error).toBeInstanceOf(KubeconfigError);
        }
      }),
    );
  });
});
