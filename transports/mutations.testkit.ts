/** For the tests of codecs: samples with bytes changed, left out, doubled and cut off, the same at every run. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { processorMs } from '../test/support/processor-time.ts'

/** Of each codec; `npm run test:packets` makes a million. */
export const MUTATIONS = Number(process.env['ROUNDS'] ?? 20_000)
/** Of the processor: no packet of a few hundred bytes takes longer. */
const MAX_MS_EACH = 1
/** After all of them, however many they were: what was compiled meanwhile. */
const MAX_KEPT_MIB = 8

const LONGEST_PIECE = 8

/** Begins to look at processor time and memory. Call what it returns once all were read: it throws where they took long, or something is kept of them. */
export function watchCost(rounds = MUTATIONS): () => void {
  const before = { ms: processorMs(), mib: keptMib() }
  return () => {
    const each = (processorMs() - before.ms) / rounds
    assert.ok(each < MAX_MS_EACH, `${each} ms each`)
    const kept = keptMib() - before.mib
    assert.ok(kept < MAX_KEPT_MIB, `${kept} MiB are kept of ${rounds}`)
  }
}

function keptMib(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}

/** In turns of the samples; each is a buffer of its own and at least a byte long. Their cost is watched. */
export function* mutationsOf(...samples: readonly Buffer[]): Generator<Buffer> {
  const endCost = watchCost()
  let state = 0x9e3779b9
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
  for (let round = 0; round < MUTATIONS; round++) {
    let bytes = Buffer.from(samples[round % samples.length] ?? [])
    for (let change = below(4); change >= 0; change--) {
      const at = below(bytes.length + 1)
      const length = below(LONGEST_PIECE)
      switch (below(8)) {
        case 0:
          bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
          break
        case 1:
          bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)])
          break
        case 2:
          bytes = bytes.subarray(0, at)
          break
        default:
          if (at < bytes.length) bytes[at] = below(256)
      }
      if (bytes.length === 0) bytes = Buffer.from([0])
    }
    yield bytes
  }
  endCost()
}
