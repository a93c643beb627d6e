import { expect, test } from '@jest/globals';
import { differences, identityOf, recordOf } from './identity.ts';

const secret = (key: string, value: string) => ({ data: { [key]: Buffer.from(value).toString('base64') } });
const tcp = {
  status: { controlPlaneEndpoint: 'a:6443', storage: { dataStoreName: 'd', setup: { schema: 's', user: 'u' } } },
};
const secrets = { ca: secret('ca.crt', 'CA'), serviceAccount: secret('sa.pub', 'key') };
const now = new Date('2026-11-26T10:00:00Z');

test('the record of an identity equals it', () => {
  const identity = identityOf(tcp, secrets, 'inside');
  const record = recordOf(identity, now);
  expect(record).toMatchObject({ since: now.toISOString(), endpoint: 'a:6443', inside: 'inside' });
  expect(record === undefined ? [] : differences(record, identity)).toEqual([]);
});

test('there is no record as long as something is not known', () => {
  expect(recordOf(identityOf({ status: {} }, secrets), now)).toBeUndefined();
  expect(recordOf(identityOf(tcp, { ...secrets, ca: undefined }), now)).toBeUndefined();
});

test('each difference is named; what could not be read is not a difference', () => {
  const record = recordOf(identityOf(tcp, secrets, 'inside'), now);
  if (record === undefined) throw new Error('there is a record');
  const other = identityOf(tcp, { ...secrets, ca: secret('ca.crt', 'another') }, 'elsewhere');
  expect(differences(record, other)).toEqual([
    expect.stringMatching(/^the certificate of the CA \(SHA-256\) was [0-9a-f]{64} and is [0-9a-f]{64}$/),
    'the UID of the namespace kube-system inside the tenant was inside and is elsewhere',
  ]);
  expect(differences(record, identityOf(tcp, secrets))).toEqual([]);
});
