/** For the tests of codecs: samples with bytes changed, left out, doubled and cut off, the same at every run. */

/** Of each codec; `ROUNDS=1000000` is the long campaign. */
export const MUTATIONS = Number(process.env['ROUNDS'] ?? 20_000)

const LONGEST_PIECE = 8

/** In turns of the samples; each is a buffer of its own and at least a byte long. */
export function* mutationsOf(...samples: readonly Buffer[]): Generator<Buffer> {
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
}
