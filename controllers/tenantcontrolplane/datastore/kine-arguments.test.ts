import { describe, expect, test } from '@jest/globals';
import type { KineBinding } from '../../../stores/driver.ts';
import { kineArguments } from './kine-arguments.ts';

const binding: KineBinding = {
  kind: 'kine',
  endpoint: 'postgres://$(DB_USER)@$(DB_CONNECTION_STRING)/x',
  connection: 'a:1',
};

describe('kineArguments', () => {
  test('contain the datastore and the socket, and no metrics', () => {
    expect(kineArguments({ binding, tls: undefined })).toEqual([
      '--endpoint=postgres://$(DB_USER)@$(DB_CONNECTION_STRING)/x',
      '--listen-address=unix:///uds/kine',
      '--metrics-bind-address=0',
    ]);
  });

  test('contain the TLS files that exist', () => {
    expect(kineArguments({ binding, tls: { ca: 'x' } })).toContain('--ca-file=/certs/ca.crt');
    expect(kineArguments({ binding, tls: { ca: 'x' } }).join()).not.toContain('--cert-file');
    const both = kineArguments({ binding, tls: { ca: 'x', certificate: 'y', key: 'z' } });
    expect(both).toEqual(expect.arrayContaining(['--cert-file=/certs/server.crt', '--key-file=/certs/server.key']));
  });

  test('can be changed by the user, except the datastore and the socket', () => {
    const args = kineArguments({
      binding: { ...binding, arguments: { 'datastore-max-open-connections': '5' } },
      tls: undefined,
      extra: [
        '--datastore-max-open-connections=9',
        '--endpoint=sqlite://',
        '-endpoint=x',
        '--listen-address=tcp://0.0.0.0:1',
        '--debug',
      ],
    });
    expect(args).toEqual(
      [
        '--datastore-max-open-connections=9',
        '--debug=true',
        '--endpoint=postgres://$(DB_USER)@$(DB_CONNECTION_STRING)/x',
        '--listen-address=unix:///uds/kine',
        '--metrics-bind-address=0',
      ].sort(),
    );
  });
});
