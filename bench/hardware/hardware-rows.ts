/** How control planes are run. */
export type Way = 'kubeadm' | 'Steward';
/** `one replica`: a server and a member of etcd each. `available`: kubeadm's three of both; Steward's two servers, on three members for all. */
export type Availability = 'one replica' | 'available';

/** What processes belong to, in the order of tables. */
export const parts = ['control planes', 'etcd', 'manager', 'below'] as const;
export type Part = (typeof parts)[number];

/** What the processes of one part need while all control planes are idle. */
export interface HardwareRow {
  readonly way: Way;
  readonly availability: Availability;
  readonly controlPlanes: number;
  /** Machines that run them. */
  readonly machines: number;
  readonly part: Part;
  readonly processes: number;
  /** Resident memory, with pages of a program counted for each of its processes. */
  readonly rssMiB: number;
  /** The same, with pages that several processes share counted once. */
  readonly pssMiB: number;
  /** Resident memory that no other process has and no file could give back. */
  readonly anonymousMiB: number;
  /** CPU seconds per second, in thousandths. */
  readonly milliCpu: number;
  readonly seconds: number;
}
