import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BlockList, isIP } from 'node:net';
import {
  addressAt,
  canonicalIp,
  cidrText,
  contains,
  defaultDnsServiceIp,
  dnsServiceIps,
  firstServiceIp,
  isIpAddress,
  joinHostPort,
  overlaps,
  parseCidr,
  parseCidrs,
  splitHostPort,
} from './networks.ts';
import type { Network } from './networks.ts';

const cidr = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([address, prefix]) => `${address}/${prefix}`),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })).map(([address, prefix]) => `${address}/${prefix}`),
);
const parsed = cidr.map((text) => parseCidr(text, 'cidr'));

/** Node's own idea of a network. */
function blockList(network: Network): BlockList {
  const [address = '', prefix = ''] = cidrText(network).split('/');
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), network.family === 4 ? 'ipv4' : 'ipv6');
  return list;
}

describe('Networks', () => {
  test('are parsed and written in canonical form', () => {
    fc.assert(
      fc.property(parsed, (network) => {
        expect(parseCidr(cidrText(network), 'cidr')).toEqual(network);
      }),
    );
  });

  test('contain their own addresses and number them from the base', () => {
    fc.assert(
      fc.property(parsed, fc.bigInt({ min: 0n, max: 1n << 128n }), (network, any) => {
        const size = 1n << BigInt((network.family === 4 ? 32 : 128) - network.prefix);
        const n = any % size;
        const address = addressAt(network, n, 'cidr');
        expect(contains(network, address)).toBe(true);
        expect(parseCidr(`${address}/${network.family === 4 ? 32 : 128}`, 'cidr').base - network.base).toBe(n);
        expect(() => addressAt(network, size, 'cidr')).toThrow('use a larger network');
      }),
    );
  });

  test('contain exactly the addresses that Node says they contain', () => {
    fc.assert(
      fc.property(parsed, fc.oneof(fc.ipV4(), fc.ipV6()), (network, address) => {
        const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
        fc.pre((canonicalIp(address) ?? '').includes(':') === (family === 'ipv6'));
        expect(contains(network, address)).toBe(
          blockList(network).check(address, family) && isIP(address) === network.family,
        );
      }),
    );
  });

  test('overlap if one contains the base of the other', () => {
    fc.assert(
      fc.property(parsed, parsed, (a, b) => {
        const base = (network: Network): string => addressAt(network, 0n, 'cidr');
        expect(overlaps(a, b)).toBe(contains(a, base(b)) || contains(b, base(a)));
        expect(overlaps(a, a)).toBe(true);
      }),
    );
  });

  test('never yield a service address outside the service network', () => {
    fc.assert(
      fc.property(
        parsed.filter(({ family, prefix }) => (family === 4 ? 32 : 128) - prefix >= 4),
        (network) => {
          const text = cidrText(network);
          expect(contains(network, firstServiceIp(text))).toBe(true);
          expect(contains(network, defaultDnsServiceIp(text))).toBe(true);
          expect(firstServiceIp(text)).not.toBe(defaultDnsServiceIp(text));
        },
      ),
    );
  });

  test('yield the same addresses as kubeadm', () => {
    expect(firstServiceIp('10.96.0.0/16')).toBe('10.96.0.1');
    expect(defaultDnsServiceIp('10.96.0.0/16')).toBe('10.96.0.10');
    expect(defaultDnsServiceIp('10.96.7.250/16')).toBe('10.96.0.10');
    expect(defaultDnsServiceIp('10.96.0.240/28')).toBe('10.96.0.250');
    expect(defaultDnsServiceIp('fd00:10:96::/112,10.96.0.0/16')).toBe('fd00:10:96::a');
  });

  test.each([
    ['10.96.0.0', 'is not of the form address/prefix'],
    ['10.96.0.0/16/8', 'is not of the form address/prefix'],
    ['10.96.0/16', 'does not begin with an IPv4 or IPv6 address'],
    ['010.96.0.0/16', 'does not begin with'],
    ['fe80::1%eth0/64', 'does not begin with'],
    ['10.96.0.0/33', 'needs a prefix length between 0 and 32'],
    ['10.96.0.0/', 'needs a prefix length'],
    ['10.96.0.0/-1', 'needs a prefix length'],
    ['10.96.0.0/016', 'needs a prefix length'],
    ['::ffff:10.96.0.0/24', 'is an IPv4 network written as IPv6'],
    ['fd00::/129', 'needs a prefix length between 0 and 128'],
    ['', 'is not of the form address/prefix'],
  ])('refuse %j, because it %s', (text, reason) => {
    expect(() => parseCidr(text, 'networkProfile.serviceCidr')).toThrow(
      `networkProfile.serviceCidr ${JSON.stringify(text)} ${reason}`,
    );
  });

  test('are accepted as one, or as two of different families', () => {
    expect(parseCidrs('10.96.0.0/16, fd00::/112', 'cidr').map(cidrText)).toEqual(['10.96.0.0/16', 'fd00::/112']);
    expect(() => parseCidrs('10.96.0.0/16,10.97.0.0/16', 'cidr')).toThrow(
      'names two IPv4 networks: use one IPv4 and one IPv6',
    );
    expect(() => parseCidrs('10.0.0.0/8,fd00::/112,fd01::/112', 'cidr')).toThrow('names more than two networks');
  });

  test('never throw an unexpected error for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseCidrs(text, 'cidr');
        } catch (error) {
          expect(error).toMatchObject({ name: 'InvalidInputError', input: { field: 'cidr' } });
        }
      }),
    );
  });
});

describe('Addresses', () => {
  test('are equal in canonical form however they are written', () => {
    expect(canonicalIp('FD00:0::0007')).toBe('fd00::7');
    expect(canonicalIp('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(canonicalIp('::192.0.2.1')).toBe('::c000:201');
    expect(canonicalIp('192.0.2.01')).toBeUndefined();
    expect(isIpAddress('3232235521')).toBe(false);
    expect(isIpAddress('example.org')).toBe(false);
  });

  test('do not change when they are canonical already', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const once = canonicalIp(text) ?? '';
        expect(isIP(once)).toBeGreaterThan(0);
        expect(canonicalIp(once)).toBe(once);
      }),
    );
  });
});

describe('dnsServiceIps', () => {
  test('keeps the given addresses, and returns the tenth by default', () => {
    expect(dnsServiceIps('10.96.0.0/16')).toEqual(['10.96.0.10']);
    expect(dnsServiceIps('10.96.0.0/16', [])).toEqual(['10.96.0.10']);
    expect(dnsServiceIps('10.96.0.0/16,fd00::/112', ['10.96.1.1', 'fd00:0::0a'])).toEqual(['10.96.1.1', 'fd00::a']);
  });

  test('refuses an address outside the network, and an empty list', () => {
    expect(() => dnsServiceIps('10.96.0.0/16', ['10.97.0.10'])).toThrow(
      'dnsServiceIPs "10.97.0.10" is outside the service network 10.96.0.0/16: use an address inside it, or leave the field empty',
    );
    expect(() => dnsServiceIps('10.96.0.0/16', ['dns'])).toThrow('is not an IP address');
  });
});

describe('Endpoints', () => {
  test('are split as they were joined', () => {
    const host = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain());
    fc.assert(
      fc.property(host, fc.integer({ min: 1, max: 65535 }), (name, port) => {
        expect(splitHostPort(joinHostPort(name, port), 'endpoint')).toEqual({ host: name, port });
      }),
    );
  });

  test('may lack a port, and an IPv6 address may then lack its brackets', () => {
    expect(splitHostPort('fd00::7', 'endpoint')).toEqual({ host: 'fd00::7' });
    expect(splitHostPort('[fd00::7]', 'endpoint')).toEqual({ host: 'fd00::7' });
    expect(splitHostPort('api.example.org', 'endpoint')).toEqual({ host: 'api.example.org' });
  });

  test.each(['', ':6443', 'a:b', 'host:0', 'host:65536', 'a:1:2', '[fd00::7'])('refuse %j', (text) => {
    expect(() => splitHostPort(text, 'endpoint')).toThrow('use host:port');
  });
});
