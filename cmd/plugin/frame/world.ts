import type { Connection } from '../../../runtime/client/connection.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Clock } from '../../../runtime/clock.ts';

/** A program that supplies credentials (client.authentication.k8s.io). */
export interface CredentialProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Everything outside of the program that its commands meet. Tests bring their own. */
export interface World {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The home directory. */
  readonly home: string;
  /** Writes the result of the command to the standard output. */
  readonly out: (text: string) => void;
  /** Writes a line to the standard error: progress and warnings. */
  readonly note: (line: string) => void;
  /** True if the standard output may have colors. */
  readonly colors: boolean;
  /** True if a person can be asked. */
  readonly interactive: boolean;
  /** Asks a person a question, to be answered with yes or no. Only if `interactive`. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly random: (octets: number) => Uint8Array;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
  readonly openCluster: (connection: Connection, name: 'management' | 'tenant') => Cluster;
  /** Runs a program and returns what it prints. Its questions reach the person. */
  readonly runCredentialProgram: (program: CredentialProgram, signal: AbortSignal) => Promise<string>;
}
