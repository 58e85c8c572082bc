import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue } from '../../../../nodes/catalogue.ts'
import { isOtherLanguage, lineOf, rangeOfLine, scriptKindOf } from './scripts.js'

test('every node of ours with a script can be tried out', () => {
  const withScript = catalogue
    .all()
    .filter(({ type, defaultConfiguration }) => type.startsWith('org.') && 'scriptLang' in defaultConfiguration)
  assert.ok(withScript.length >= 7)
  for (const { type, defaultConfiguration } of withScript) {
    const members = scriptKindOf(type)?.members
    assert.ok(members !== undefined && members.JS in defaultConfiguration && members.TBEL in defaultConfiguration, type)
  }
})

test('the line that an error names is found in the script', () => {
  const script = 'var a = 1;\nreturn (a;\n'
  assert.equal(lineOf("line 2, column 10: expected ')'"), 2)
  assert.equal(lineOf('script stopped after 500 ms (line 1, column 15)'), 1)
  assert.equal(lineOf('Wrong result type'), undefined)
  assert.equal(script.slice(...rangeOfLine(script, 2)), 'return (a;')
  assert.equal(script.slice(...rangeOfLine(script, 9)), '')
})

test('the script of the language that is not chosen is not shown', () => {
  const shown = (scriptLang: unknown) =>
    ['tbelScript', 'jsScript'].filter((name) => !isOtherLanguage({ scriptLang }, name))
  assert.deepEqual([shown('TBEL'), shown('JS'), shown(null)], [['tbelScript'], ['jsScript'], ['jsScript']])
  assert.equal(isOtherLanguage({}, 'jsScript'), false)
})
