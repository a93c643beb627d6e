/**
 * CNI network of one node (CNI specification 1.0): a bridge with the node's pod range and port mappings.
 * Nodes reach each other's pods by routes between the machines.
 */
export function cniConflist(podCidr: string): string {
  return `${JSON.stringify(
    {
      cniVersion: '1.0.0',
      name: 'pods',
      plugins: [
        {
          type: 'bridge',
          bridge: 'cni0',
          isGateway: true,
          ipMasq: true,
          hairpinMode: true,
          ipam: { type: 'host-local', ranges: [[{ subnet: podCidr }]], routes: [{ dst: '0.0.0.0/0' }] },
        },
        { type: 'portmap', capabilities: { portMappings: true }, snat: true },
      ],
    },
    undefined,
    2,
  )}\n`;
}
