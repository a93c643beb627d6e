import { describe, expect, test } from '@jest/globals';
import { connectionChecksum } from './connection.ts';

describe('the checksum of a connection', () => {
  test('changes with each part and is not the credential', () => {
    const base = { server: 'https://a', token: 't' };
    const all = [
      base,
      { ...base, token: 'u' },
      { ...base, ca: 'x' },
      { ...base, tlsServerName: 'x' },
      { ...base, dial: { host: 'x', port: 1 } },
      { server: 'https://a', clientCert: 't', clientKey: '' },
    ].map(connectionChecksum);
    expect(new Set(all).size).toBe(all.length);
    expect(connectionChecksum({ ...base })).toBe(all[0]);
    expect(all[0]).toMatch(/^[0-9a-f]{64}$/);
  });
});
