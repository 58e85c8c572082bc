/** QR codes (ISO/IEC 18004) of bytes, with error correction of level M: the modules of one, and its drawing. */
import { svg } from './svg.js'

/** By version, from 1 on: all codewords, blocks, codewords of each block that correct errors. */
const VERSIONS = /** @type {readonly (readonly [all: number, blocks: number, correcting: number])[]} */ ([
  [26, 1, 10],
  [44, 1, 16],
  [70, 1, 26],
  [100, 2, 18],
  [134, 2, 24],
  [172, 4, 16],
  [196, 4, 18],
  [242, 4, 22],
  [292, 5, 22],
  [346, 5, 26],
])
/** Rows and columns of alignment patterns beside 6. @type {readonly (readonly number[])[]} */
const ALIGNED = [[], [18], [22], [26], [30], [34], [22, 38], [24, 42], [26, 46], [28, 50]]
const BYTE_MODE = 0b0100
const PADS = [0xec, 0x11]
/** Which modules a mask turns over. @type {readonly ((row: number, column: number) => boolean)[]} */
const MASKS = [
  (r, c) => (r + c) % 2 === 0,
  (r) => r % 2 === 0,
  (_, c) => c % 3 === 0,
  (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
]
/** Light modules around it, so that it is found. */
const QUIET = 4

/** @typedef {(boolean | undefined)[][]} Modules true is dark; undefined: not set yet */

/** Rows of modules, true for dark; undefined where the text is longer than 213 bytes. @param {string} text @returns {boolean[][] | undefined} */
export function qrModules(text) {
  const bytes = [...new TextEncoder().encode(text)]
  const version =
    VERSIONS.findIndex((_, index) => headBits(index + 1) + bytes.length * 8 <= dataLength(index + 1) * 8) + 1
  if (version === 0) return undefined
  const bits = codewords(bytes, version).flatMap((word) => bitsOf(word, 8))
  const masked = MASKS.map((mask, index) => {
    const modules = patterns(version)
    noteFormat(modules, index)
    fill(modules, bits, mask)
    return modules.map((row) => row.map((module) => module === true))
  })
  return masked.reduce((best, each) => (penalty(each) < penalty(best) ? each : best))
}

/** @param {string} text @param {string} label what a screen reader says of it @returns {Element | undefined} undefined where it is too long */
export function qrDrawing(text, label) {
  const modules = qrModules(text)
  if (modules === undefined) return undefined
  const size = modules.length + 2 * QUIET
  const dark = modules.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + QUIET} ${y + QUIET}h1v1h-1z`] : [])),
  )
  const drawing = svg('svg', { viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label, class: 'qr' })
  // Dark on light in each mode: many apps read no other.
  drawing.append(
    svg('rect', { width: size, height: size, fill: '#fff' }),
    svg('path', { d: dark.join(''), fill: '#000', 'shape-rendering': 'crispEdges' }),
  )
  return drawing
}

/** @param {number} version */
function partsOf(version) {
  const [all, blocks, correcting] = VERSIONS[version - 1] ?? [0, 1, 0]
  return { all, blocks, correcting }
}

/** @param {number} version */
function dataLength(version) {
  const { all, blocks, correcting } = partsOf(version)
  return all - blocks * correcting
}

/** Mode and length. @param {number} version */
function headBits(version) {
  return version < 10 ? 12 : 20
}

/** Data in blocks, each with its correction, taken in turns. @param {readonly number[]} bytes @param {number} version */
function codewords(bytes, version) {
  const { blocks, correcting } = partsOf(version)
  const length = dataLength(version)
  const bits = [
    ...bitsOf(BYTE_MODE, 4),
    ...bitsOf(bytes.length, headBits(version) - 4),
    ...bytes.flatMap((each) => bitsOf(each, 8)),
  ]
  const ended = [...bits, ...bitsOf(0, Math.min(4, length * 8 - bits.length))]
  const data = Array.from({ length: Math.ceil(ended.length / 8) }, (_, index) =>
    Array.from({ length: 8 }, (__, bit) => ended[index * 8 + bit] ?? 0).reduce((word, bit) => word * 2 + bit, 0),
  )
  for (let index = 0; data.length < length; index++) data.push(PADS[index % 2] ?? 0)
  const short = Math.floor(length / blocks)
  const firstLong = blocks - (length % blocks)
  let from = 0
  const parts = Array.from({ length: blocks }, (_, index) =>
    data.slice(from, (from += short + (index < firstLong ? 0 : 1))),
  )
  const corrections = parts.map((part) => correctionOf(part, correcting))
  return [...inTurns(parts), ...inTurns(corrections)]
}

/** @param {readonly (readonly number[])[]} parts */
function inTurns(parts) {
  const longest = Math.max(...parts.map(({ length }) => length))
  return Array.from({ length: longest }, (_, index) => parts.flatMap((part) => part[index] ?? [])).flat()
}

/** Reed–Solomon: the rest of the division by the generator of that degree. @param {readonly number[]} data @param {number} degree @returns {number[]} */
export function correctionOf(data, degree) {
  /** @type {number[]} */
  let generator = [1]
  for (let power = 0, root = 1; power < degree; power++, root = times(root, 2))
    generator = [...generator, 0].map((each, index) => each ^ times(generator[index - 1] ?? 0, root))
  const rest = [...data, ...Array.from({ length: degree }, () => 0)]
  data.forEach((_, at) => {
    const factor = rest[at] ?? 0
    generator.forEach((each, index) => (rest[at + index] = (rest[at + index] ?? 0) ^ times(each, factor)))
  })
  return rest.slice(data.length)
}

/** In GF(256) by x⁸ + x⁴ + x³ + x² + 1. @param {number} a @param {number} b */
function times(a, b) {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d)
    product ^= ((b >> bit) & 1) * a
  }
  return product
}

/** What each code of the version has, and the room of the format. @param {number} version @returns {Modules} */
function patterns(version) {
  const size = 17 + 4 * version
  /** @type {Modules} */
  const modules = Array.from({ length: size }, () => Array.from({ length: size }, () => undefined))
  for (const [row, column] of /** @type {const} */ ([
    [0, 0],
    [0, size - 7],
    [size - 7, 0],
  ]))
    square(modules, row + 3, column + 3, 4, (ring) => ring !== 2 && ring !== 4)
  const lines = version === 1 ? [] : [6, ...(ALIGNED[version - 1] ?? [])]
  for (const row of lines)
    for (const column of lines)
      if (modules[row]?.[column] === undefined) square(modules, row, column, 2, (ring) => ring !== 1)
  for (let at = 8; at < size - 8; at++) {
    put(modules, 6, at, at % 2 === 0)
    put(modules, at, 6, at % 2 === 0)
  }
  if (version >= 7)
    bitsOf((version << 12) | remainder(version, 12, 0x1f25), 18)
      .reverse()
      .forEach((bit, index) => {
        const [long, short] = [Math.floor(index / 3), size - 11 + (index % 3)]
        put(modules, long, short, bit === 1)
        put(modules, short, long, bit === 1)
      })
  return modules
}

/** Level M and the mask, twice. @param {Modules} modules @param {number} mask */
function noteFormat(modules, mask) {
  const size = modules.length
  // The two bits of level M are 0.
  const bits = bitsOf(((mask << 10) | remainder(mask, 10, 0x537)) ^ 0x5412, 15).map((bit) => bit === 1)
  bits.forEach((bit, index) => {
    const before = index < 6 ? index : index < 8 ? index + 1 : undefined
    if (before !== undefined) put(modules, 8, before, bit)
    else put(modules, index === 8 ? 7 : 14 - index, 8, bit)
    if (index < 7) put(modules, size - 1 - index, 8, bit)
    else put(modules, 8, size - 15 + index, bit)
  })
  put(modules, size - 8, 8, true)
}

/** Up and down in pairs of columns from the right. @param {Modules} modules @param {readonly number[]} bits @param {(row: number, column: number) => boolean} mask */
function fill(modules, bits, mask) {
  const size = modules.length
  let next = 0
  let isUp = true
  for (let right = size - 1; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right = 5
    for (let step = 0; step < size; step++) {
      const row = isUp ? size - 1 - step : step
      for (const column of [right, right - 1])
        if (modules[row]?.[column] === undefined) put(modules, row, column, (bits[next++] === 1) !== mask(row, column))
    }
  }
}

/** How badly it can be read. @param {readonly (readonly boolean[])[]} modules */
function penalty(modules) {
  const size = modules.length
  const columns = modules.map((_, column) => modules.map((row) => row[column] === true))
  let points = 0
  for (const line of [...modules, ...columns]) {
    const text = line.map((isDark) => (isDark ? '1' : '0')).join('')
    for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) points += run.length - 2
    points += 40 * [...text.matchAll(/(?=10111010000|00001011101)/g)].length
  }
  for (let row = 1; row < size; row++)
    for (let column = 1; column < size; column++) {
      const at = modules[row]?.[column]
      const others = [modules[row - 1]?.[column], modules[row]?.[column - 1], modules[row - 1]?.[column - 1]]
      if (others.every((other) => other === at)) points += 3
    }
  const dark = modules.flat().filter(Boolean).length / size ** 2
  return points + 10 * Math.floor(Math.abs(dark - 0.5) * 20)
}

/** @param {Modules} modules @param {number} row @param {number} column of its middle @param {number} radius @param {(ring: number) => boolean} isDark */
function square(modules, row, column, radius, isDark) {
  for (let y = -radius; y <= radius; y++)
    for (let x = -radius; x <= radius; x++)
      put(modules, row + y, column + x, isDark(Math.max(Math.abs(x), Math.abs(y))))
}

/** @param {Modules} modules @param {number} row @param {number} column @param {boolean} isDark */
function put(modules, row, column, isDark) {
  const line = modules[row]
  if (line !== undefined && column >= 0 && column < line.length) line[column] = isDark
}

/** Of a BCH code. @param {number} value @param {number} degree @param {number} generator */
function remainder(value, degree, generator) {
  let rest = value
  for (let step = 0; step < degree; step++) rest = (rest << 1) ^ ((rest >> (degree - 1)) * generator)
  return rest
}

/** Highest first. @param {number} value @param {number} count */
function bitsOf(value, count) {
  return Array.from({ length: count }, (_, index) => (value >> (count - 1 - index)) & 1)
}
