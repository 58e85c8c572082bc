/** What library calls do is counted before they do it. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { handClock } from '../../javascript/testkit.ts'
import { Budget, DEFAULT_TBEL_LIMITS } from '../budget.ts'
import { textOf, type Value } from '../values.ts'
import { bytesFunctions } from './bytes.ts'
import { DateValue } from './date-value.ts'
import { formatText } from './format.ts'
import { setMethods, setOf } from './set.ts'
import { stringMethods } from './string.ts'

function budget(limits: { steps?: number; memoryBytes?: number } = {}): Budget {
  const counted = new Budget({ ...DEFAULT_TBEL_LIMITS, steps: 2000, ...limits }, handClock())
  counted.reset()
  return counted
}

function onText(name: string, text: string, values: readonly Value[], counted: Budget): Value {
  const found = stringMethods.get(name)
  assert.ok(found !== undefined)
  return found.run(text, values, counted)
}

const LONG = 'a'.repeat(100_000)

test('a set counts each value it looks for, and long texts by their length', () => {
  const set = setOf([1, LONG], budget({ steps: 100_000 }))
  for (const [name, value] of [
    ['containsAll', Array<Value>(3000).fill(1)],
    ['containsAll', [LONG]],
    ['contains', LONG],
    ['remove', LONG],
  ] as const) {
    const found = setMethods.get(name)
    assert.ok(found !== undefined)
    assert.throws(() => found.run(set, [value as Value], budget()), { kind: 'work' }, name)
  }
})

test('a search counts text times part', () => {
  const text = 'a'.repeat(20_000)
  const part = `b${'a'.repeat(5000)}`
  for (const name of ['indexOf', 'lastIndexOf', 'contains', 'replace']) {
    assert.throws(() => onText(name, text, name === 'replace' ? [part, ''] : [part], budget()), { kind: 'work' }, name)
    onText(name, text, name === 'replace' ? ['b', ''] : ['b'], budget())
  }
})

test('dates in words and texts as bytes are counted', () => {
  const dates = Array.from({ length: 7 }, () => new DateValue(0))
  budget()
  assert.ok(textOf(dates.slice(0, 6)).startsWith('[Thursday'))
  budget()
  assert.throws(() => textOf(dates), { kind: 'work' })
  const hex = bytesFunctions.get('bytesToHex')
  assert.ok(hex !== undefined)
  assert.throws(() => hex.run([Array<Value>(3000).fill('1')], budget()), { kind: 'work' })
})

test('unpaired surrogates become question marks in linear time, unless the text has the replacement character', () => {
  const bytes = bytesFunctions.get('stringToBytes')
  assert.ok(bytes !== undefined)
  const text = '\ud800'.repeat(200_000)
  const run = (given: string): Value => bytes.run([given], budget({ steps: 1_000_000 }))
  assert.deepEqual(run('\ud800a'), [63, 97])
  assert.deepEqual(run('\ud800\ufffd'), [-17, -65, -67, -17, -65, -67])
  const start = processorMs()
  run(text)
  assert.ok(processorMs() - start < 1000)
})

test('padding and groups that are put in are counted before they take memory', () => {
  const tight = { steps: 1_000_000, memoryBytes: 100_000 }
  assert.throws(() => formatText([`${'%9999%'.repeat(100)}%q`], budget(tight)), { kind: 'memory' })
  const groups = `${'$1'.repeat(500)}$9`
  assert.throws(() => onText('replaceAll', 'a'.repeat(40_000), ['(a*)', groups], budget(tight)), { kind: 'memory' })
})
