import { kinds } from '../../../api/core/kinds.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import { podMonitor as podMonitorKind } from '../../../api/prometheus-operator/kinds.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { ensureKeyPair } from '../certificates/ensure-key-pair.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { rotationRequested, rotationTime } from '../shared/rotate.ts';
import { secretText } from '../shared/secret.ts';
import { monitoringCertificateComponent, monitoringProfile, monitoringSecret } from './monitoring-certificate.ts';
import { podMonitor, podMonitorComponent } from './pod-monitor.ts';

/**
 * Lets Prometheus scrape the components of the tenant, if a flag of the manager enables it and the kind PodMonitor exists. Otherwise what was
 * created for it is deleted, the certificate last: its Secret shows whether anything is left.
 */
export async function monitoring(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const name = tenantObjects(tcp.metadata.name).monitoringCertificate;
  const current = observed.secrets.get(name);
  const settings = deps.isServed(podMonitorKind) ? deps.monitoring : undefined;
  if (settings === undefined) {
    if (current === undefined) return { is: 'done' };
    const none = { manifests: [] };
    await deps.applySet(scope, { ...none, component: podMonitorComponent, prunes: [podMonitorKind] }, ctx);
    await deps.applySet(scope, { ...none, component: monitoringCertificateComponent, prunes: [kinds.Secret] }, ctx);
    return { is: 'done' };
  }
  const { ca, trusted } = needed(scope.authorities, 'authorities');
  const keys = dataKeys.monitoringCertificate;
  const data = rotationRequested(current) ? {} : secretText(current?.data);
  const { pair, renewal } = await ensureKeyPair(
    {
      profile: monitoringProfile,
      authority: ca,
      algorithm: tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256',
      current: { certificate: data[keys.certificate] ?? '', key: data[keys.key] ?? '' },
      what: `Secret ${name}`,
    },
    deps,
    ctx,
  );
  const credentials = monitoringSecret(tcp, { pair, authority: trusted }, rotationTime(current, ctx.now));
  await deps.apply(scope, credentials, ctx);
  await deps.apply(scope, podMonitor(tcp, needed(scope.endpoint, 'endpoint').port, settings), ctx);
  return { is: 'done', learned: { monitoringRenewal: renewal } };
}
