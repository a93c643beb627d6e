import { describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../kubernetes-client.ts';
import { parseServiceRules, wantedRules } from './service-rules.ts';

describe('The rules of kube-proxy in the kernel', () => {
  const listed = (...keys: readonly (readonly (string | number)[])[]): string =>
    JSON.stringify({
      nftables: [
        { metainfo: { version: '1.0.6' } },
        { map: { name: 'service-ips', elem: keys.map((concat) => [{ concat }, { goto: { target: 'service-a' } }]) } },
      ],
    });

  test('are parsed from the output of nft', () => {
    expect(parseServiceRules(listed(['10.96.0.1', 'tcp', 443], ['10.96.0.10', 'udp', 53]))).toEqual([
      '10.96.0.1 tcp 443',
      '10.96.0.10 udp 53',
    ]);
  });

  test('are parsed with the comment of a Service without endpoints', () => {
    const elem = [[{ elem: { val: { concat: ['10.96.0.7', 'tcp', 80] }, comment: 'default/web' } }, { drop: null }]];
    expect(parseServiceRules(JSON.stringify({ nftables: [{ map: { elem } }] }))).toEqual(['10.96.0.7 tcp 80']);
  });

  test('are the same if nft knows no names of protocols', () => {
    expect(parseServiceRules(listed(['10.96.0.1', 6, 443]))).toEqual(['10.96.0.1 tcp 443']);
  });

  test('are empty if the map has no elements', () => {
    expect(parseServiceRules('{"nftables":[{"metainfo":{}},{"map":{"name":"service-ips"}}]}')).toEqual([]);
  });
});

describe('The rules that Services require', () => {
  const service = (spec: Record<string, unknown>, status: Record<string, unknown> = {}): PlainObject => ({
    spec,
    status,
  });

  test('include one for each port of each address, a load balancer’s included', () => {
    const ingress = [{ ip: '172.30.0.5', ipMode: 'VIP' }];
    const dns = { clusterIPs: ['10.96.0.10'], ports: [{ port: 53, protocol: 'UDP' }, { port: 9153 }] };
    const web = service({ clusterIPs: ['10.96.0.7'], ports: [{ port: 80 }] }, { loadBalancer: { ingress } });
    expect(wantedRules([service(dns), web])).toEqual([
      '10.96.0.10 udp 53',
      '10.96.0.10 tcp 9153',
      '10.96.0.7 tcp 80',
      '172.30.0.5 tcp 80',
    ]);
  });

  test.each([
    ['without an address', { clusterIPs: ['None'], ports: [{ port: 80 }] }],
    ['of another name', { type: 'ExternalName', externalName: 'example.com', ports: [{ port: 80 }] }],
    ['of IPv6', { clusterIPs: ['fd00::1'], ports: [{ port: 80 }] }],
  ])('include none for one %s', (_what, spec) => {
    expect(wantedRules([service(spec)])).toEqual([]);
  });
});
