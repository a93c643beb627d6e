import { describe, expect, test } from '@jest/globals';
import { cidrText } from '../../kubeadm/networks.ts';
import { reachSettings } from './reach-settings.ts';

describe('the flags about what is seen outside a namespace', () => {
  test('allow nothing when they say nothing', () => {
    expect(reachSettings('', ' , ')).toEqual({ externalIps: [], annotations: [] });
  });

  test('take networks of both families, and domains, keys and everything of annotations', () => {
    const { externalIps, annotations } = reachSettings('192.0.2.7/24, fd00::/64', 'example.com/,a.example/key ,*');
    expect(externalIps.map(cidrText)).toEqual(['192.0.2.0/24', 'fd00::/64']);
    expect(annotations).toEqual(['example.com/', 'a.example/key', '*']);
  });

  test.each([
    ['192.0.2.7', '', '--allow-external-ips "192.0.2.7" is not of the form address/prefix'],
    ['::/129', '', '--allow-external-ips "::/129" needs a prefix length'],
    ['', 'example.com', 'got "example.com"'],
    ['', 'a b/', 'got "a b/"'],
    ['', 'example.com/*', 'got "example.com/*"'],
  ])('refuse %j and %j, and say what is possible', (externalIps, annotations, message) => {
    expect(() => reachSettings(externalIps, annotations)).toThrow(message);
  });
});
