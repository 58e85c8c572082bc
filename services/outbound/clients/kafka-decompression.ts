/**
 * The library decompresses whatever a broker sends to whatever it becomes, and a broker is the tenant's to make up: a few kilobytes could become
 * gigabytes. Gzip and Zstandard end at a length; of Snappy and LZ4 a batch is refused that could become too long. An answer may hold many batches, which
 * the library decompresses in one turn: together they have the same bound.
 */
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { compressionsAlgorithms } from '@platformatic/kafka'
import { OutboundErrors } from '../errors.ts'

/** Of all batches of an answer. A batch of brokers as they are set by default has up to 1 MiB. */
const MAX_BYTES = 67_108_864
/** Of formats that do not end at a length: what repetitions are written with. */
const LARGEST_RATIOS = { snappy: 22, lz4: 255 }
/** Seldom is a batch all repetition. */
const MAX_POSSIBLE_BYTES = 536_870_912

type Algorithm = (typeof compressionsAlgorithms)['gzip' | 'zstd' | 'snappy' | 'lz4']
type Decompress = Algorithm['decompressSync']
type Compressed = Parameters<Decompress>[0]

let isBound = false
/** What was decompressed in this turn, in bytes. */
let ofTurn = 0

/** For the process, once. */
export function boundDecompression(): void {
  if (isBound) return
  isBound = true
  const { gzip, zstd, snappy, lz4 } = compressionsAlgorithms
  const [ofSnappy, ofLz4] = [snappy.decompressSync, lz4.decompressSync]
  bind(gzip, (data) => counted(gunzipSync(bytesOf(data), { maxOutputLength: mostLeft() })))
  bind(zstd, (data) => counted(zstdDecompressSync(bytesOf(data), { maxOutputLength: mostLeft() })))
  bind(snappy, (data) => counted(ofSnappy(checked(data, LARGEST_RATIOS.snappy))))
  bind(lz4, (data) => counted(ofLz4(checked(data, LARGEST_RATIOS.lz4))))
}

/** Not 0, which is no length to end at. */
function mostLeft(): number {
  return Math.max(1, MAX_BYTES - ofTurn)
}

function counted(batch: Buffer): Buffer {
  if (ofTurn === 0) queueMicrotask(() => (ofTurn = 0))
  ofTurn += batch.length
  if (ofTurn > MAX_BYTES)
    throw OutboundErrors.CALL_FAILED({ reason: `the batches of an answer are larger than ${MAX_BYTES} bytes` })
  return batch
}

function bind(algorithm: Algorithm, decompressSync: Decompress): void {
  Object.defineProperty(algorithm, 'decompressSync', { value: decompressSync })
}

function checked(data: Compressed, ratio: number): Compressed {
  if (data.length * ratio > MAX_POSSIBLE_BYTES)
    throw OutboundErrors.CALL_FAILED({ reason: `a compressed batch of ${data.length} bytes is too large` })
  return data
}

function bytesOf(data: Compressed): Uint8Array {
  return data instanceof Uint8Array ? data : data.slice()
}
