import { KubeconfigError, readKubeconfig } from '../../../api/kubeconfig.ts';
import { kubeconfig as written } from '../../../kubeadm/kubeconfig.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';
import { serverCa } from '../../servers/server-certificates.ts';

/** A kubeconfig in a Secret that an author may write. */
export const kubeconfig: FuzzTarget = {
  name: 'kubeconfig',
  from: 'the author of a StewardControlPlane that is hosted elsewhere',
  seeds: async () => {
    const pair = await serverCa('fuzz');
    const place = { clusterName: 'shop', server: 'https://shop.example.org:6443', user: 'admin' };
    return [
      written({ ...place, ca: pair.certificate, client: pair }),
      'apiVersion: v1\ncurrent-context: a\nclusters: [{name: c, cluster: {server: https://[::1]:6443/x}}]\n' +
        'contexts: [{name: a, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: secret}}]\n',
    ];
  },
  refusals: [KubeconfigError],
  parse: (input) => {
    const { access } = readKubeconfig(input.toString());
    const url = new URL(access.server);
    kept(
      url.protocol === 'https:' && url.username === '',
      'a server is reached by TLS, and without a password in its URL',
    );
    // People paste it into a shell.
    kept(/^[\w.:[\]-]+$/.test(url.host), 'the host of a server is a name or an address');
    kept(access.tokenFile === undefined, 'no file of the reader is named');
  },
};
