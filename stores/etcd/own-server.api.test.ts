import { expect, test } from '@jest/globals';
import { dirname } from 'node:path';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { openOwnStorePage } from '../../testing/contracts/stores/own-store-page.ts';
import { patient } from '../../testing/patient.ts';
import { startEtcd } from '../../testing/servers/etcd-server.ts';
import { etcdDriver } from './driver.ts';

test('the commands of the how-to page make one’s own etcd usable, and its DataStore becomes ready', async () => {
  const { etcdctl } = await resolveTools(['etcdctl']);
  await using etcd = await startEtcd({ tls: true });
  const { ca, root } = etcd.tls ?? {};
  await using page = await openOwnStorePage({
    page: 'datastore-etcd',
    programs: [dirname(etcdctl)],
    environment: {
      ETCDCTL_ENDPOINTS: etcd.endpoints.join(','),
      ETCDCTL_CACERT: 'ca.crt',
      ETCDCTL_CERT: 'tls.crt',
      ETCDCTL_KEY: 'tls.key',
    },
    files: {
      'ca.crt': ca?.certificate ?? '',
      'ca.key': ca?.key ?? '',
      'tls.crt': root?.certificate ?? '',
      'tls.key': root?.key ?? '',
    },
    endpoints: etcd.endpoints.map((endpoint) => endpoint.replace('https://', '')),
  });
  await page.runNext();
  await page.runNext();
  const config = await etcdDriver.configure(page.dataStore, page.read);
  await using session = await etcdDriver.open(config, AbortSignal.timeout(patient(20_000)));
  await expect(session.ping()).resolves.toMatchObject({ supported: true });
}, 120_000);
