/**
 * CNI network of one node (CNI specification 1.0): a bridge with the node's pod ranges, one of each IP family, and port mappings.
 * Nodes reach each other's pods by routes between the machines.
 */
export function cniConflist(...podCidrs: readonly string[]): string {
  const everywhere = podCidrs.map((range) => ({ dst: range.includes(':') ? '::/0' : '0.0.0.0/0' }));
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
          ipam: { type: 'host-local', ranges: podCidrs.map((subnet) => [{ subnet }]), routes: everywhere },
        },
        { type: 'portmap', capabilities: { portMappings: true }, snat: true },
      ],
    },
    undefined,
    2,
  )}\n`;
}
