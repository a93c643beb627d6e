import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import type { ApiServer } from '../api-server.ts';
import { startServerProcess } from '../server-process.ts';

/**
 * kube-controller-manager and kube-scheduler beside an API server, as themselves and with leader election, as in a control plane. Both are
 * killed when it is disposed of.
 */
export async function startControlPlanePrograms(server: ApiServer, kubernetes?: string): Promise<AsyncDisposable> {
  const folder = dirname(server.kubeconfigPath);
  const programs = ['kube-controller-manager', 'kube-scheduler'] as const;
  const tools = await resolveTools(programs, { kubernetes });
  const flags = {
    'kube-controller-manager': [
      '--use-service-account-credentials=true',
      `--service-account-private-key-file=${join(folder, 'sa.key')}`,
      `--root-ca-file=${join(folder, 'ca.crt')}`,
    ],
    'kube-scheduler': [],
  };
  const running = await Promise.all(
    programs.map(async (name) => {
      const kubeconfig = join(folder, `${name}.kubeconfig`);
      await writeFile(kubeconfig, await kubeconfigOf(server, `system:${name}`), { mode: 0o600 });
      return startServerProcess({
        program: tools[name],
        programArguments: [`--kubeconfig=${kubeconfig}`, '--leader-elect=true', '--secure-port=0', ...flags[name]],
        log: join(folder, `${name}.log`),
      });
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((one) => one.kill()));
    },
  };
}

async function kubeconfigOf(server: ApiServer, user: string): Promise<string> {
  const { url, ca } = server;
  const { certificate, key } = await server.clientPair(user);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const credentials = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    'current-context': 'test',
  });
}
