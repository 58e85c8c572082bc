import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkSource } from './source-check.ts'

describe('source check', () => {
  test('a blank body is refused', () => {
    assert.throws(() => checkSource(' \n\t', 100), { code: 'script.SCRIPT_BODY', message: 'script body is blank' })
  })

  test('a body over the limit is refused and one at the limit is not', () => {
    assert.throws(() => checkSource('x'.repeat(101), 100), { code: 'script.SCRIPT_BODY' })
    checkSource('x'.repeat(100), 100)
  })

  for (const name of ['async', 'await', 'Promise', 'setTimeout']) {
    test(`the name ${name} is refused with its place`, () => {
      assert.throws(() => checkSource(`var a = 1;\n  ${name} (a);`, 1000), {
        code: 'script.SCRIPT_SYNTAX',
        fields: { line: 2, column: 3, reason: `'${name}' is not allowed in a script` },
      })
    })

    test(`the name ${name} is allowed in comments, texts and as part of a longer name`, () => {
      checkSource(
        `// ${name}\n/* ${name} */ var my${name} = '${name}' + "${name}" + \`${name}\`; return ${name}2;`,
        1000,
      )
    })
  }

  test('a quote inside an unfinished text does not hide what follows on the next line', () => {
    assert.throws(() => checkSource("return /'/.test(msg.a);\nawait 1;", 1000), { code: 'script.SCRIPT_SYNTAX' })
  })
})
