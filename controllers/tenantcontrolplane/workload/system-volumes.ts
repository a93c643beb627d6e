import { readableMode as mode } from '../shared/pod-parts.ts';
import type { Volume, VolumeProjection } from '../shared/pod-parts.ts';
import { dataKeys, tenantObjects, volumes } from '../../../api/names.ts';
import type { ControlPlaneInput } from '../shared/control-plane-input.ts';

/** Volume with what only kube-controller-manager may read: the CA's private key. */
export const controllerManagerPki = 'controller-manager-pki';

function projection(name: string, keys: readonly string[], folder = ''): VolumeProjection {
  return { secret: { name, items: keys.map((key) => ({ key, path: `${folder}${key}` })) } };
}

/**
 * The volumes of our containers, each with no more than its readers need: the CA's private key only where certificates are
 * signed, the client key of the datastore only where it is used.
 */
export function systemVolumes({ tcp, store, overrides = [], trustBundles, addons = [] }: ControlPlaneInput): Volume[] {
  const names = tenantObjects(tcp.metadata.name);
  const { ca, frontProxyCa, serviceAccount, apiServer, apiServerKubeletClient, frontProxyClient } = dataKeys;
  const { dataStoreCertificate } = dataKeys;
  const caBundle = trustBundles?.ca === true ? [ca.bundle] : [];
  const frontProxyBundle = trustBundles?.frontProxyCa === true ? [frontProxyCa.bundle] : [];
  const forApiServer = [
    projection(names.apiServer, [apiServer.certificate, apiServer.key]),
    projection(names.ca, [ca.certificate, ...caBundle]),
    projection(names.apiServerKubeletClient, [apiServerKubeletClient.certificate, apiServerKubeletClient.key]),
    projection(names.frontProxyCa, [frontProxyCa.certificate, ...frontProxyBundle]),
    projection(names.frontProxyClient, [frontProxyClient.certificate, frontProxyClient.key]),
    projection(names.serviceAccount, [serviceAccount.publicKey, serviceAccount.key]),
  ];
  if (store.kind === 'etcd') {
    const { ca: storeCa, certificate, key } = dataStoreCertificate;
    // kube-apiserver has one set of files for all of its datastores.
    const files = overrides.length > 0 ? names.dataStoreOverridesCertificate : names.dataStoreCertificate;
    forApiServer.push(projection(files, [storeCa, certificate, key], 'etcd/'));
  }
  const kine: Volume[] =
    store.kind === 'kine'
      ? [
          { name: volumes.kineSocket, emptyDir: { medium: 'Memory' } },
          { name: volumes.kineConfig, secret: { secretName: names.dataStoreCertificate, defaultMode: mode } },
        ]
      : [];
  const forControllerManager = [
    projection(names.ca, [ca.certificate, ca.key, ...caBundle]),
    projection(names.frontProxyCa, [frontProxyCa.certificate, ...frontProxyBundle]),
    projection(names.serviceAccount, [serviceAccount.key]),
  ];
  return [
    { name: volumes.pki, projected: { defaultMode: mode, sources: forApiServer } },
    { name: controllerManagerPki, projected: { defaultMode: mode, sources: forControllerManager } },
    { name: volumes.schedulerKubeconfig, secret: { secretName: names.schedulerKubeconfig, defaultMode: mode } },
    {
      name: volumes.controllerManagerKubeconfig,
      secret: { secretName: names.controllerManagerKubeconfig, defaultMode: mode },
    },
    ...kine,
    ...addons.flatMap(({ volumes: ofAddon = [] }) => ofAddon),
  ];
}
