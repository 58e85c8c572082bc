import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configurationOf } from '../../../services/calculated-fields/configuration.ts'
import { ruleText } from './alarm-rules.js'
import { limitRule } from './alarm-shapes.js'

const OPERATIONS = ['GREATER', 'GREATER_OR_EQUAL', 'LESS', 'LESS_OR_EQUAL', 'EQUAL', 'NOT_EQUAL'] as const

for (const operation of OPERATIONS)
  test(`a rule of a limit (${operation}) is taken by the server, and ends where its condition does not hold`, () => {
    const rule = limitRule({ key: 'temperature', operation, limit: 90, severity: 'MAJOR' })
    assert.equal(configurationOf(rule).type, 'ALARM')
    const holds = (value: number, condition: unknown): boolean => {
      const [, asked = ''] = /"operation":"([A-Z_]+)","value"/.exec(JSON.stringify(condition)) ?? []
      const [greater, equal] = [value > 90, value === 90]
      if (asked === 'EQUAL' || asked === 'NOT_EQUAL') return equal === (asked === 'EQUAL')
      return (asked.startsWith('GREATER') ? greater : value < 90) || (asked.endsWith('EQUAL') && equal)
    }
    for (const value of [89, 90, 91])
      assert.notEqual(holds(value, rule['createRules']), holds(value, rule['clearRule']), String(value))
  })

test('a rule is told in words, and one of more parts is not told wrong', () => {
  const wanted = { key: 'pressure', operation: 'LESS', limit: 2.5, severity: 'CRITICAL' }
  assert.equal(ruleText(limitRule(wanted)), 'critical: pressure below 2.5')
  const script = { condition: { type: 'SIMPLE', expression: { type: 'TBEL', expression: 'return t > 50;' } } }
  assert.equal(ruleText({ createRules: { MAJOR: script } }), 'major: return t > 50;')
  const late = { condition: { type: 'DURATION', expression: { type: 'SIMPLE', filters: [] } } }
  assert.equal(ruleText({ createRules: { CRITICAL: late } }), 'critical: a condition of several parts')
})
