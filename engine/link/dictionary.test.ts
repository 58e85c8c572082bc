import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Dictionary } from './dictionary.ts'

/** As a block does: the index of a text that is there, else of one that is added. */
function indexOf(dictionary: Dictionary, text: string): number {
  return dictionary.find(text) || dictionary.add(text)
}

test('each block has its own indexes, whatever the blocks before it held', () => {
  const few = fc.constantFrom('a', 'b', 'c', 'd', 'x'.repeat(40_000), 'y'.repeat(40_000))
  const many = fc.nat(3000).map(String)
  const block = fc.record({ texts: fc.array(fc.oneof(few, many), { maxLength: 200 }), taken: fc.nat(200) })
  fc.assert(
    fc.property(fc.array(block, { maxLength: 12 }), (blocks) => {
      const dictionary = new Dictionary()
      for (const { texts, taken } of blocks) {
        const seen = new Map<string, number>()
        const use = (text: string): void => {
          const expected = seen.get(text)
          assert.equal(dictionary.find(text), expected ?? 0)
          seen.set(text, expected ?? seen.size + 1)
          assert.equal(indexOf(dictionary, text), seen.get(text))
        }
        texts.forEach(use)
        // A message that could not be encoded is taken back with the texts that it brought.
        dictionary.truncate(taken)
        for (const [text, index] of seen) if (index > taken) seen.delete(text)
        assert.equal(dictionary.size, seen.size)
        texts.forEach(use)
        dictionary.clear()
      }
    }),
  )
})

test('what is noted of a text is there in later blocks, and never another text’s', () => {
  const dictionary = new Dictionary()
  for (let block = 0; block < 40; block++) {
    for (let text = block % 3; text < 100; text++) {
      const index = indexOf(dictionary, `${block < 20 ? 'first' : 'second'} ${text}`)
      const noted = dictionary.noteOf(index)
      const own = (block < 20 ? 0 : 1000) + text + 1
      assert.ok(noted === 0 || noted === own, `${noted} of ${own}`)
      if (block % 20 > 2) assert.equal(noted, own)
      dictionary.note(index, own)
    }
    // Too much to be kept: the texts that follow take the places of those before.
    if (block === 19) dictionary.add('x'.repeat(100_000))
    dictionary.clear()
  }
})

test('texts that were taken back are not kept for ever, where no block ever gets full', () => {
  const dictionary = new Dictionary()
  dictionary.note(dictionary.add('first'), 7)
  dictionary.truncate(0)
  assert.equal(dictionary.noteOf(dictionary.add('first')), 7)
  for (let message = 0; message < 2000; message++) {
    dictionary.truncate(0)
    dictionary.add(`text ${message}`)
  }
  dictionary.truncate(0)
  assert.equal(dictionary.noteOf(dictionary.add('first')), 0)
  assert.deepEqual([dictionary.size, dictionary.find('first'), dictionary.find('text 1999')], [1, 1, 0])
})
