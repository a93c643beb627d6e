/** What is before each message of gRPC: a byte for compression, which nobody uses here, and its length. */
const prefixBytes = 5;

/** A message as gRPC sends it. */
export function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame.writeUInt8(0, 0);
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, prefixBytes);
  return frame;
}

/** Puts the messages of a stream together, wherever it was cut. */
export class MessageFrames {
  #rest: Buffer = Buffer.alloc(0);

  /** The messages that are complete with this part. */
  take(part: Buffer): readonly Buffer[] {
    let rest = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    const messages: Buffer[] = [];
    while (rest.length >= prefixBytes) {
      const end = prefixBytes + rest.readUInt32BE(1);
      if (rest.length < end) break;
      messages.push(rest.subarray(prefixBytes, end));
      rest = rest.subarray(end);
    }
    this.#rest = rest;
    return messages;
  }
}
