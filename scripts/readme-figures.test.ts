/** The figures of the README are those of the files, and it stays short. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { regionsOf, withFigures } from './readme-figures.ts'

const readme = readFileSync(join(resolve(import.meta.dirname, '..'), 'README.md'), 'utf8')
const skip = regionsOf(readme).length > 0 ? false : 'README.md has no region of figures'

test('the figures of the README are those of benchmarks/results and of the fault campaign', { skip }, () => {
  assert.equal(withFigures(readme), readme, 'run: node scripts/readme-figures.ts')
})

test('the README has under 150 lines', () => {
  const lines = readme.trimEnd().split('\n').length
  assert.ok(lines < 150, `${lines} lines`)
})

const REGIONS =
  'before\n<!-- figures: rates -->\n<!-- end of figures -->\nbetween\n<!-- figures: faults -->\nold\n<!-- end of figures -->\nafter\n'

test('writes the marked regions, and nothing beside them', () => {
  const written = withFigures(REGIONS)
  assert.match(written, /^before\n<!-- figures: rates -->\n\| /)
  assert.match(written, /<!-- end of figures -->\nbetween\n<!-- figures: faults -->\n[\d,]+ rounds over \d+ faults: /)
  assert.match(written, /<!-- end of figures -->\nafter\n$/)
  assert.equal(withFigures(written), written)
})

test('a typed figure is seen', () => {
  const written = withFigures(REGIONS)
  const typed = written.replace(/(\d) points\/s/, '9$1 points/s')
  assert.notEqual(typed, written)
  assert.notEqual(withFigures(typed), typed)
})

test('a region that nobody knows is refused', () => {
  assert.throws(() => withFigures('<!-- figures: beauty -->\n<!-- end of figures -->'), /beauty/)
})
