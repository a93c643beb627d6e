import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { service } from './service.ts';
import { serviceRefusal } from './service-refusal.ts';

const nodePorts = { from: 30_000, to: 30_001 };
let server: ApiServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await startApiServer({ flags: { 'service-node-port-range': `${nodePorts.from}-${nodePorts.to}` } });
  cluster = openCluster(
    { server: server.url, ca: server.ca, clientCert: server.adminCertificate, clientKey: server.adminKey },
    { name: 'management' },
  );
});

afterAll(async () => {
  await cluster.close();
  await server.stop();
});

/** Applies the NodePort Service of a control plane; undefined if the API server takes it. */
async function refusalOf(name: string, networkProfile: object, namespace = 'default'): Promise<unknown> {
  const tcp = tenantControlPlaneWith({
    metadata: { name, namespace, uid: name },
    service: { serviceType: 'NodePort' },
    networkProfile,
  });
  const manifest = service({
    tcp,
    current: undefined,
    nodePorts,
    reach: { externalIps: [], annotations: [] },
    servers: [],
  });
  try {
    await cluster.apply(kinds.Service, manifest, { fieldManager: 'steward' });
    return undefined;
  } catch (error) {
    return error instanceof ApiError ? (serviceRefusal(error.message) ?? error) : error;
  }
}

describe('A Service that a real API server has no port for', () => {
  test('is reported as AddressInUse while another Service has the port, and as NoFreeNodePort while all are in use', async () => {
    expect(await refusalOf('a', { port: nodePorts.from })).toBeUndefined();
    expect(await refusalOf('b', { port: nodePorts.from })).toMatchObject({
      reason: 'AddressInUse',
      message: expect.stringContaining(`Invalid value: ${nodePorts.from}: provided port is already allocated`),
    });
    expect(await refusalOf('b', { port: nodePorts.to })).toBeUndefined();
    expect(await refusalOf('c', {})).toMatchObject({
      reason: 'NoFreeNodePort',
      message: expect.stringContaining('range is full'),
    });
  });

  test('stays refused with the words of the API server for any other reason', async () => {
    expect(await refusalOf('d', {}, 'absent')).toMatchObject({ name: 'ApiError', reason: 'NotFound' });
  });
});
