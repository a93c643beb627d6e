import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ApiServerAccess } from './api-server.ts';

/** A token of a ServiceAccount as kubelets get it for a projected volume; for the API server itself without `audience`. */
export async function serviceAccountToken(
  server: ApiServerAccess,
  account: { readonly namespace: string; readonly name: string; readonly audience?: string },
): Promise<string> {
  const { namespace, name, audience } = account;
  const call = request(`${server.url}/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
    ca: server.ca,
    cert: server.adminCertificate,
    key: server.adminKey,
  });
  call.end(
    JSON.stringify({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: audience === undefined ? [] : [audience], expirationSeconds: 3600 },
    }),
  );
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  const body = await text(answer);
  const { status } = JSON.parse(body) as { readonly status?: { readonly token?: string } };
  if (status?.token === undefined) throw new Error(`no token for ${namespace}/${name}: ${body}`);
  return status.token;
}
