import { expect, test } from '@jest/globals';

import { writesIn } from './fleet-writes.ts';

const line = (verb: string, resource: string, more: string, count: number): string =>
  `apiserver_request_total{code="200",component="apiserver",${more}resource="${resource}",verb="${verb}"} ${count}`;

test('Writes are those to objects of tenants, summed over codes, without dry runs, Leases and reads', () => {
  const text = [
    line('APPLY', 'secrets', 'dry_run="",subresource="",', 3),
    line('APPLY', 'secrets', 'dry_run="",subresource="",version="v1",', 1),
    line('PATCH', 'tenantcontrolplanes', 'dry_run="",subresource="status",', 2),
    line('APPLY', 'services', 'dry_run="All",subresource="",', 9),
    line('PUT', 'leases', 'dry_run="",subresource="",', 9),
    line('GET', 'secrets', 'dry_run="",subresource="",', 9),
  ].join('\n');
  expect(writesIn(text)).toEqual({ 'APPLY secrets': 4, 'PATCH tenantcontrolplanes/status': 2 });
});
