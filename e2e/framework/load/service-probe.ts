import type { Machine } from '../../cluster/machines/machine.ts';

/** Connects to a Service from a node of a tenant, ten times a second, and counts what was refused. */
export class ServiceProbe {
  readonly #machine: Machine;
  readonly #file: string;

  private constructor(machine: Machine, file: string) {
    this.#machine = machine;
    this.#file = file;
  }

  /** Begins; `address` is the Service's cluster address. */
  static async start(machine: Machine, address: string, port: number): Promise<ServiceProbe> {
    const file = `/tmp/probe-${address}-${port}`;
    const attempt = `timeout 3 bash -c '</dev/tcp/${address}/${port}' 2>/dev/null`;
    const loop = `while [ -e ${file} ]; do if ${attempt}; then echo ok; else echo "failed at $(date +%T.%N)"; fi >> ${file}.log; sleep 0.1; done`;
    await machine.exec([
      'sh',
      '-c',
      `rm -f ${file}.log; touch ${file}; setsid sh -c "$1" sh >/dev/null 2>&1 </dev/null &`,
      'sh',
      loop,
    ]);
    return new ServiceProbe(machine, file);
  }

  /** Ends, and says how often it tried and when it failed. */
  async stop(): Promise<{ readonly tries: number; readonly failed: readonly string[] }> {
    await this.#machine.exec(['rm', '-f', this.#file]);
    const { stdout } = await this.#machine.exec(['cat', `${this.#file}.log`]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return { tries: lines.length, failed: lines.filter((line) => line !== 'ok') };
  }
}
