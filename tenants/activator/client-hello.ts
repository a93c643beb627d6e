/** Why bytes are not the beginning of a connection that a kube-apiserver would answer. */
export type HelloRefusal = 'NotTls' | 'Malformed' | 'OldVersion' | 'TooLong';

/** How far a ClientHello has been read. */
export type HelloReading =
  { readonly is: 'partial' } | { readonly is: 'complete' } | { readonly is: 'refused'; readonly why: HelloRefusal };

/** All records of a hello together are no longer than this, in bytes. Those of today's clients have 200 to 2,500. */
export const mostHelloBytes = 16 * 1024;

const recordHeader = 5;
const handshakeHeader = 4;
const handshakeRecord = 22;
const clientHello = 1;
/** The longest fragment that a record may have. */
const mostFragment = 2 ** 14;
const firstBytes = 2048;
/** A ClientHello says TLS 1.2 also for 1.3. kube-apiserver refuses older ones. */
const tls12 = 0x0303;

const partial: HelloReading = { is: 'partial' };
const complete: HelloReading = { is: 'complete' };
const refused = (why: HelloRefusal): HelloReading => ({ is: 'refused', why });

/**
 * Reads a ClientHello from bytes as they arrive, in fragments of any size, and keeps them. It decides by structure alone: no key is
 * needed. The bytes are copied into one buffer, so that a caller who sends them one by one costs no more than others.
 */
export class ClientHelloReader {
  #kept = Buffer.alloc(firstBytes);
  #length = 0;
  /** Where the next record begins, and what the records before hold of the handshake. */
  #next = 0;
  readonly #fragments: { readonly from: number; readonly to: number }[] = [];
  #held = 0;
  #reading: HelloReading = partial;

  /** All bytes so far. */
  get bytes(): Buffer {
    return this.#kept.subarray(0, this.#length);
  }

  get reading(): HelloReading {
    return this.#reading;
  }

  /** Takes more bytes. Those after a complete hello are kept as well, as far as there is room: false if there is none. */
  push(chunk: Uint8Array): boolean {
    if (this.#length + chunk.length > mostHelloBytes) {
      if (this.#reading.is === 'partial') this.#reading = refused('TooLong');
      return false;
    }
    this.#keep(chunk);
    if (this.#reading.is === 'partial') this.#reading = this.#read();
    return true;
  }

  #keep(chunk: Uint8Array): void {
    let size = this.#kept.length;
    while (size < this.#length + chunk.length) size *= 2;
    if (size > this.#kept.length) {
      const grown = Buffer.alloc(size);
      this.#kept.copy(grown, 0, 0, this.#length);
      this.#kept = grown;
    }
    this.#kept.set(chunk, this.#length);
    this.#length += chunk.length;
  }

  #read(): HelloReading {
    for (;;) {
      const record = this.#kept.subarray(this.#next, this.#length);
      const fault = recordFault(record);
      if (fault !== undefined) return refused(fault);
      if (record.length < recordHeader) return partial;
      const end = this.#next + recordHeader + record.readUInt16BE(3);
      const to = Math.min(end, this.#length);
      const begun = this.#begun(this.#next + recordHeader, to);
      if (begun !== undefined) return begun;
      if (end > this.#length) return partial;
      this.#fragments.push({ from: this.#next + recordHeader, to: end });
      this.#held += end - this.#next - recordHeader;
      this.#next = end;
      const all = this.#whole();
      if (all !== undefined) return all;
    }
  }

  /** Refuses by the first bytes of the message what cannot become a hello, before all of it has arrived. */
  #begun(from: number, to: number): HelloReading | undefined {
    if (this.#held >= handshakeHeader) return undefined;
    const head = this.#handshake([...this.#fragments, { from, to }]);
    if (head.length > 0 && head[0] !== clientHello) return refused('Malformed');
    if (head.length < handshakeHeader) return undefined;
    return handshakeHeader + head.readUIntBE(1, 3) > mostHelloBytes - recordHeader ? refused('TooLong') : undefined;
  }

  /** The verdict once all records of the message are there. */
  #whole(): HelloReading | undefined {
    if (this.#held < handshakeHeader) return undefined;
    const head = this.#handshake(this.#fragments.slice(0, handshakeHeader));
    const length = handshakeHeader + head.readUIntBE(1, 3);
    if (this.#held < length) return undefined;
    // A hello is the only message of its flight.
    if (this.#held > length) return refused('Malformed');
    const fault = helloFault(this.#handshake(this.#fragments).subarray(handshakeHeader));
    return fault === undefined ? complete : refused(fault);
  }

  #handshake(fragments: readonly { readonly from: number; readonly to: number }[]): Buffer {
    const [first, ...more] = fragments;
    if (first === undefined) return Buffer.alloc(0);
    if (more.length === 0) return this.#kept.subarray(first.from, first.to);
    return Buffer.concat(fragments.map(({ from, to }) => this.#kept.subarray(from, to)));
  }
}

/** What is wrong with the header of a record, as far as it has arrived. */
function recordFault(record: Buffer): HelloRefusal | undefined {
  const [type, major] = record;
  if (type !== undefined && type !== handshakeRecord) return 'NotTls';
  if (major !== undefined && major !== 3) return 'NotTls';
  if (record.length < recordHeader) return undefined;
  const length = record.readUInt16BE(3);
  return length === 0 || length > mostFragment ? 'Malformed' : undefined;
}

/** What is wrong with the body of a ClientHello: its parts must fill it exactly. */
function helloFault(body: Buffer): HelloRefusal | undefined {
  if (body.length < 2) return 'Malformed';
  if (body.readUInt16BE(0) < tls12) return 'OldVersion';
  const random = 32;
  const session = vector(body, 2 + random, { size: 1, least: 0, most: 32 });
  const ciphers = vector(body, session, { size: 2, least: 2, most: mostHelloBytes });
  const compressions = vector(body, ciphers, { size: 1, least: 1, most: 255 });
  if (compressions === undefined || ciphers === undefined || session === undefined) return 'Malformed';
  if ((ciphers - session) % 2 !== 0) return 'Malformed';
  if (compressions === body.length) return undefined;
  const extensions = vector(body, compressions, { size: 2, least: 0, most: mostHelloBytes });
  if (extensions !== body.length) return 'Malformed';
  let at: number | undefined = compressions + 2;
  while (at !== undefined && at < body.length) at = vector(body, at + 2, { size: 2, least: 0, most: mostHelloBytes });
  return at === undefined ? 'Malformed' : undefined;
}

/** Where a vector ends that begins with its length; undefined if it does not fit. */
function vector(
  body: Buffer,
  at: number | undefined,
  { size, least, most }: { readonly size: number; readonly least: number; readonly most: number },
): number | undefined {
  if (at === undefined || at + size > body.length) return undefined;
  const length = body.readUIntBE(at, size);
  const end = at + size + length;
  return length < least || length > most || end > body.length ? undefined : end;
}
