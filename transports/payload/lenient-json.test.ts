import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { JsonPayloadDecoder } from './json.ts'
import { strictJsonOf } from '../../model/lenient-json.ts'
import { DEFAULT_PAYLOAD_LIMITS } from './limits.ts'

const decoder = new JsonPayloadDecoder(DEFAULT_PAYLOAD_LIMITS)

function stored(text: string): Record<string, unknown> {
  const [group] = decoder.telemetry(Buffer.from(text))
  return Object.fromEntries((group?.entries ?? []).map(({ key, type, value }) => [key, `${type} ${String(value)}`]))
}

describe('payloads that are no strict JSON', () => {
  it('are read as the reference reads them', () => {
    const same = { a: 'LONG 1', b: 'STRING x' }
    for (const text of [
      '{a:1,b:x}',
      "{'a':1,'b':'x'}",
      '{"a"=1;"b"=>"x"}',
      '// of the boiler\n{"a":1,# here\n"b":/* there */"x"}',
      ")]}'\n{a:1,b:x}",
      '\t{ a : 1 , b : x }\r\n',
      '{a:"1",b:x}',
      '{a:0,a:1,b:x}',
      '\ufeff{"a":1,"b":"x"}',
      "\ufeff)]}'\n{a:1,b:x}",
    ])
      assert.deepEqual(stored(text), same, text)
  })

  it('have bare words as texts, keywords of any case, and numbers as everywhere', () => {
    assert.deepEqual(stored('{n:NaN,i:-Infinity,t:TRUE,f:False,o:NULL,z:007,e:1e3,p:+5,h:0x1F,w:on-line}'), {
      n: 'STRING NaN',
      i: 'STRING -Infinity',
      t: 'BOOLEAN true',
      f: 'BOOLEAN false',
      z: 'LONG 7',
      e: 'LONG 1000',
      p: 'STRING +5',
      h: 'STRING 0x1F',
      w: 'STRING on-line',
    })
  })

  it('may break lines in texts, and escape what needs no escape', () => {
    assert.deepEqual(stored('{"a":"1\n2\\\'3\\u0041\\t"}'), { a: "STRING 1\n2'3A\t" })
  })

  it('keep their nesting, with left out elements of lists as null', () => {
    assert.equal(strictJsonOf('{a:[1,,{b:[]};{}],c:[,]}'), '{"a":[1,null,{"b":[]},{}],"c":[null,null]}')
    assert.deepEqual(decoder.telemetry(Buffer.from('[{a:1},{ts:1451649600512,values:{b:2}}]')).length, 2)
  })

  it('are refused where the reference refuses them, with what is wrong as JSON', () => {
    for (const text of [
      '{a:1,}',
      '{a:1;}',
      '{a:1}x',
      '{a:1',
      '{a 1}',
      '{a:}',
      '{:1}',
      '{a:b c}',
      '[{a:1},]',
      '{"a',
      '{"a":"\\x"}',
      '{"a":"\\u12"}',
      '/* {a:1}',
      ']',
      '{a:1]',
      'abc',
      "'",
      '{"a":"}',
      "{'a:1}",
    ])
      assert.throws(() => decoder.telemetry(Buffer.from(text)), { kind: 'invalid' }, text)
    assert.throws(() => decoder.telemetry(Buffer.from('{a:1,}')), /Invalid JSON: Expected property name/)
    assert.throws(() => decoder.telemetry(Buffer.from(`{a:${'['.repeat(200)}${']'.repeat(200)}}`)), /deeper than/)
  })

  it('say the same as strict JSON wherever they are strict JSON', () => {
    for (const value of [{ a: 1, b: [true, null, 'x"\\/\u2028é'], c: { d: {} } }, [], [[]], 'x', -1.5e-7, null])
      assert.deepEqual(JSON.parse(strictJsonOf(JSON.stringify(value, undefined, 2)) ?? ''), value)
  })
})
