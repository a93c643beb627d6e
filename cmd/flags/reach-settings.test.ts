import { describe, expect, test } from '@jest/globals';
import { cidrText } from '../../kubeadm/networks.ts';
import { reachSettings } from './reach-settings.ts';

describe('The flags for what tenant authors may use outside their namespace', () => {
  test('allow nothing by default', () => {
    expect(reachSettings('', ' , ')).toEqual({ externalIps: [], annotations: [] });
  });

  test('accept networks of both families, domains, annotation keys and a wildcard', () => {
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
  ])('refuse %j and %j, and name the accepted values', (externalIps, annotations, message) => {
    expect(() => reachSettings(externalIps, annotations)).toThrow(message);
  });
});
