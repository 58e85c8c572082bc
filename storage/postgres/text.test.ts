import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fromPostgresText, toPostgresText } from './text.ts'

test('every string comes back as it was, in text that PostgreSQL takes', () => {
  const unit = fc.constantFrom('a', 'é', '\u0000', '\u001a', '0', '\ud83c', '\udf21', '🌡️')
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 12 }), (units) => {
      const text = units.join('')
      const stored = toPostgresText(text)
      assert.ok(stored.isWellFormed() && !stored.includes('\u0000'))
      assert.equal(fromPostgresText(Buffer.from(stored).toString()), text)
    }),
  )
})

test('usual text is stored as it reads', () => {
  assert.equal(toPostgresText('grüße \\u0000 🌡️'), 'grüße \\u0000 🌡️')
})
